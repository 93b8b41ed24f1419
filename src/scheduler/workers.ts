/** A worker comes, becomes idle, has something to do, goes: the sets in which it is found without looking at all of them. */
import type { Bytes, WorkerId } from "../protocol/index.ts";
import type { State, WorkerPhase, WorkerState } from "./state.ts";

export function addWorker(state: State, id: WorkerId, memory: Bytes, isWide: boolean): void {
  const worker: WorkerState = {
    id,
    pid: 0,
    memory,
    phase: "starting",
    task: null,
    kernelBytes: 0,
    reading: null,
    kinds: { process: 0, managed: 0, unmanaged: 0, recent: 0, spilled: 0 },
    hasWorked: false,
    endedFor: null,
    container: null,
    inspection: null,
    knows: new Set(),
    instances: new Map(),
    lastDevices: [],
  };
  if (isWide) {
    state.wide.worker = worker;
    state.wide.isOrdered = false;
    return;
  }
  state.workers.set(id, worker);
  if (memory > state.workerMemory) state.raised.add(worker);
}

export function becomeIdle(state: State, worker: WorkerState): void {
  worker.phase = "idle";
  if (worker === state.wide.worker) return;
  state.idle.add(worker);
  for (const operator of worker.knows) operator.idle.add(worker);
}

export function noLongerIdle(state: State, worker: WorkerState, phase: Exclude<WorkerPhase, "idle">): void {
  worker.phase = phase;
  worker.hasWorked ||= phase !== "stopping";
  state.idle.delete(worker);
  for (const operator of worker.knows) operator.idle.delete(worker);
}

export function workerOf({ workers, wide }: State, id: WorkerId): WorkerState | undefined {
  return wide.worker?.id === id ? wide.worker : workers.get(id);
}

/** How many workers the session keeps alive at this moment. */
export function tellWanted({ commands, lease, isParked, slots }: State): void {
  commands.push({ type: "want", workers: lease?.isParked === true ? 0 : isParked ? 1 : slots });
}

/** It is told nothing more, and what it knew is gone with it. */
export function stopping(state: State, worker: WorkerState): void {
  noLongerIdle(state, worker, "stopping");
  for (const operator of worker.knows) operator.workers.delete(worker);
  worker.knows.clear();
}
