/** The answer to "where is the memory?": by process and kind, as it was last read. */

import { colourOf } from "../../memory/index.ts";
import type { SessionMemory, WorkerMemory } from "../../protocol/index.ts";
import type { State, WorkerState } from "../state/index.ts";
import { pressingBytes, thresholdsOf } from "../store/index.ts";

export function memoryReport(state: State): SessionMemory {
  const { ledger, workers } = state;
  const { node, processes } = state.memory;
  const { memory } = state.options;
  const { wide } = state.phases;
  const threshold = memory === null || memory.memoryMonitorRefreshMs === 0 ? null : memory.memoryUsageThreshold;
  return {
    node: { ...(node ?? { used: 0, total: 0 }), threshold },
    ...processes,
    store: { capacity: ledger.capacity, resident: ledger.live, spilled: ledger.spilledBytes },
    workers: [
      ...[...workers.values()].map((worker) => memoryOf(state, worker, "worker")),
      ...(wide === null ? [] : [memoryOf(state, wide, "wide")]),
    ],
  };
}

function memoryOf(state: State, worker: WorkerState, kind: WorkerMemory["kind"]): WorkerMemory {
  const { id, pid, phase, task } = worker;
  const { kinds, standing } = worker.memory;
  // The wide kernel stands on no ladder.
  const limit = kind === "wide" ? Number.POSITIVE_INFINITY : worker.memory.limit;
  const bytes = pressingBytes(state, worker);
  return {
    ...kinds,
    id,
    pid: phase === "starting" ? null : pid,
    kind,
    limit: Number.isFinite(limit) ? limit : null,
    pressure: standing.pressure,
    colour: colourOf(standing.pressure, phase === "stopping", bytes, limit, thresholdsOf(state, worker)),
    task: task?.operator.spec.name ?? null,
  };
}
