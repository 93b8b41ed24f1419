/** The beginning and the end of a worker. What it does in between is its phase (phases/worker.ts). */

import type { Bytes, WorkerId } from "../../protocol/index.ts";
import { forgetOperators, moveWorker, workerCame } from "../phases/index.ts";
import { bornInto, workerBegins } from "../starts/index.ts";
import { newWorker, note, type State, type WorkerState } from "../state/index.ts";

export function addWorker(state: State, id: WorkerId, memory: Bytes, isWide: boolean): void {
  const worker = newWorker(id, bornInto(state), memory, state.options.memory?.recentToOldTime ?? 0);
  const limit = Number.isFinite(memory) ? memory : null;
  note(state, { type: "workerStarting", worker: id, kind: isWide ? "wide" : "worker", limit });
  if (isWide) {
    workerCame(state, worker, "wide");
    return;
  }
  workerBegins(state);
  workerCame(state, worker, "worker");
  if (memory > state.memory.workerMemory) state.memory.raised.add(worker);
}

/** Includes workers that are paused or being trimmed. */
export function withoutTask(state: State): WorkerState[] {
  return [...state.workers.values()].filter(({ phase }) => phase === "idle");
}

export function workerOf({ workers, phases: { wide } }: State, id: WorkerId): WorkerState | undefined {
  return wide?.id === id ? wide : workers.get(id);
}

/** The worker is sent nothing more, and what it knew is forgotten. */
export function stopping(state: State, worker: WorkerState): void {
  if (worker.phase === "stopping") return;
  moveWorker(state, worker, "stopping");
  worker.recycling.trimming = null;
  worker.memory.paused = null;
  state.memory.paused.delete(worker);
  state.memory.heavy.delete(worker);
  state.memory.unfit.delete(worker);
  forgetOperators(worker);
}

/** The worker's process has ended. */
export function forgetWorker({ memory }: State, worker: WorkerState): void {
  memory.raised.delete(worker);
  memory.ending.delete(worker);
}

/** Ends an idle worker; if there are too few then, another takes its place. */
export function dismiss(state: State, worker: WorkerState): void {
  stopping(state, worker);
  state.commands.push({ type: "dismiss", worker: worker.id });
}
