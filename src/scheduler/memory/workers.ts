/** The beginning and the end of a worker. What it does in between is its phase (phases/worker.ts). */

import { GROUND, LeastOverTime } from "../../memory/index.ts";
import type { Bytes, WorkerId } from "../../protocol/index.ts";
import { moveWorker } from "../phases/index.ts";
import { bornInto, workerBegins } from "../starts/index.ts";
import { note, type State, type WorkerState } from "../state/index.ts";
import { noHeapPast } from "./heap.ts";

export function addWorker(state: State, id: WorkerId, memory: Bytes, isWide: boolean): void {
  const worker: WorkerState = {
    id,
    pid: 0,
    birth: bornInto(state),
    memory,
    startedWith: memory,
    phase: "starting",
    task: null,
    kernelBytes: 0,
    container: null,
    containerRead: 0,
    isAskedToEvict: false,
    reading: null,
    readAt: 0,
    kinds: { process: 0, managed: 0, unmanaged: 0, recent: 0, spilled: 0 },
    unmanaged: new LeastOverTime(state.memory?.recentToOldTime ?? 0),
    standing: GROUND,
    foundNothingToSpill: false,
    paused: null,
    history: {
      first: null,
      after: [],
      tasks: 0,
      noted: 0,
      operator: null,
      isMixed: false,
      classes: new Set(),
      settled: null,
    },
    heap: noHeapPast(),
    trimming: null,
    endedFor: null,
    foreign: null,
    inspection: null,
    knows: new Set(),
    instances: new Map(),
    lastDevices: [],
  };
  const limit = Number.isFinite(memory) ? memory : null;
  note(state, { type: "workerStarting", worker: id, kind: isWide ? "wide" : "worker", limit });
  if (isWide) {
    state.wide.worker = worker;
    state.wide.isOrdered = false;
    return;
  }
  workerBegins(state);
  state.workers.set(id, worker);
  if (memory > state.workerMemory) state.raised.add(worker);
}

/** Includes workers that are paused or being trimmed. */
export function withoutTask(state: State): WorkerState[] {
  return [...state.workers.values()].filter(({ phase }) => phase === "idle");
}

export function workerOf({ workers, wide }: State, id: WorkerId): WorkerState | undefined {
  return wide.worker?.id === id ? wide.worker : workers.get(id);
}

/** The worker is sent nothing more, and what it knew is forgotten. */
export function stopping(state: State, worker: WorkerState): void {
  if (worker.phase === "stopping") return;
  moveWorker(state, worker, "stopping");
  worker.trimming = null;
  worker.paused = null;
  state.paused.delete(worker);
  state.heavy.delete(worker);
  state.unfit.delete(worker);
  for (const operator of worker.knows) {
    operator.workers.delete(worker);
    // The number of a class's instances is bounded: an instance in a worker that is about to end still counts.
    if (operator.isClass) operator.retiring.add(worker);
  }
  worker.knows.clear();
}

/** Ends an idle worker; if there are too few then, another takes its place. */
export function dismiss(state: State, worker: WorkerState): void {
  stopping(state, worker);
  state.commands.push({ type: "dismiss", worker: worker.id });
}
