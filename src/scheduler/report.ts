/** The answer to "what is there, and what of it is in use?" */
import type { Bytes, SessionResources, WorkerUse } from "../protocol/index.ts";
import type { State, WorkerState } from "./state.ts";

export function resourcesReport(state: State): SessionResources {
  const { total, used, ledger, devices } = state;
  return {
    total: { cpu: total.cpu, gpu: total.gpu, memory: total.memory, objectStoreMemory: ledger.capacity },
    used: { cpu: used.cpu, gpu: devices.used, memory: used.memory, objectStoreMemory: ledger.live },
    workers: [...state.workers.values()].map((worker) => workerUse(state, worker)),
  };
}

function workerUse(state: State, worker: WorkerState): WorkerUse {
  const { id, pid, phase, task } = worker;
  return {
    id,
    pid,
    state: phase === "inspecting" ? "busy" : phase,
    managed: managedBytes(state, worker),
    task: task?.operator.spec.name ?? null,
  };
}

/** The seam for the ledger's account of who made which block, which it does not keep yet. */
function managedBytes(_state: State, _worker: WorkerState): Bytes {
  return 0;
}
