/** Figures of tasks and operators that a test does not look at: what it does look at, it gives. */
import { NO_FIGURES, type OperatorStats, type TaskReport } from "../../src/protocol/index.ts";

export function taskReport(more: Partial<TaskReport> = {}): TaskReport {
  return { ...NO_FIGURES, wall: 1, cpu: 1, files: [], ...more };
}

const spread = { min: 0, max: 0, mean: 0, total: 0 };

export function operatorStats(more: Partial<OperatorStats> = {}): OperatorStats {
  return {
    id: 0,
    name: "map",
    kind: { place: "worker", isSource: true, functions: [], batchSize: null },
    tasks: 1,
    tasksDone: 1,
    tasksRunning: 0,
    share: 1,
    seconds: 0,
    retries: 0,
    oomRetries: 0,
    learned: null,
    appetite: null,
    blocks: 1,
    rowsIn: 0,
    rowsOut: spread,
    bytesOut: spread,
    wall: spread,
    cpu: spread,
    errored: 0,
    peakMemory: 0,
    addedMemory: 0,
    spilledBytes: 0,
    restoredBytes: 0,
    heldBy: null,
    heldBack: {},
    skipped: { files: 0, rowGroups: 0, rows: 0, columns: 0 },
    ...more,
  };
}
