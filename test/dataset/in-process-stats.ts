/** Figures that the engine without processes invents: one task, one millisecond, the rows that there were. */
import type { JobStats, Operator, OperatorStats, WrittenFile } from "../../src/protocol/index.ts";

const spread = (total: number) => ({ min: total, max: total, mean: total, total });

export function statsOf(operator: Operator, rows: number): OperatorStats {
  const tasks = operator.kind === "tasks" && operator.input.kind === "splits" ? operator.input.splits.length : 1;
  const nothing = { files: 0, rowGroups: 0, rows: 0, columns: 0 };
  return {
    id: operator.id,
    name: operator.name,
    tasks,
    tasksDone: tasks,
    retries: 0,
    oomRetries: 0,
    learned: null,
    blocks: tasks,
    rowsOut: spread(rows),
    bytesOut: spread(0),
    wall: spread(1),
    cpu: spread(1),
    errored: 0,
    peakMemory: 0,
    heldBack: {},
    skipped: operator.kind === "tasks" ? operator.skipped : nothing,
  };
}

export function jobStats(operators: readonly OperatorStats[], files: readonly WrittenFile[]): JobStats {
  const peaks = { peakWorkerMemory: 0, peakSupervisorMemory: 0, peakProgramMemory: 0, peakStoreBytes: 0 };
  return { operators, seconds: 0.1, files, ...peaks, spilledBytes: 0, restoredBytes: 0 };
}
