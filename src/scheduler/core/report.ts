/** The session's resources and their use. */
import type { SessionResources, WorkerUse } from "../../protocol/index.ts";
import type { State, WorkerState } from "../state/index.ts";

export function resourcesReport(state: State): SessionResources {
  const { ledger } = state;
  const { total, used, devices } = state.resources;
  const { wide } = state.phases;
  return {
    total: { cpu: total.cpu, gpu: total.gpu, memory: total.memory, objectStoreMemory: ledger.capacity },
    used: { cpu: used.cpu, gpu: devices.used, memory: used.memory, objectStoreMemory: ledger.live },
    workers: [...state.workers.values(), ...(wide === null ? [] : [wide])].map((worker) => workerUse(state, worker)),
  };
}

function workerUse(state: State, worker: WorkerState): WorkerUse {
  const { id, pid, phase, task } = worker;
  const { kernelBytes } = worker.memory;
  return {
    id,
    pid: phase === "starting" ? null : pid,
    state: phase === "inspecting" ? "busy" : phase,
    kind: worker === state.phases.wide ? "wide" : "worker",
    managed: state.ledger.managed(id) + kernelBytes,
    task: task?.operator.spec.name ?? null,
  };
}
