/**
 * Takes in a reading of memory: every worker's memory by kind. The ladder decides what follows.
 */

import { kindsOf } from "../../memory/index.ts";
import type { Bytes, HeapUse } from "../../protocol/index.ts";
import type { Event, State, WorkerState } from "../state/index.ts";
import { mayAskToEvict, spillUnderPressure, useOf } from "../store/index.ts";
import { noteOthers } from "./forecast.ts";
import { heapAfterTask } from "./heap.ts";
import { stand, warnOfUnmanaged } from "./ladder.ts";
import { kernelMeasured } from "./lease.ts";
import { ownMemoryRead } from "./own.ts";
import { isHeavy, noteGrowth } from "./recycle.ts";
import { workerOf } from "./workers.ts";

export function memoryRead(state: State, event: Extract<Event, { type: "memory" }>): void {
  state.memory.processes = { supervisor: event.supervisor, program: event.program };
  for (const reading of event.workers) {
    const worker = workerOf(state, reading.worker);
    if (worker === undefined) continue;
    worker.memory.reading = reading;
    worker.memory.readAt = state.now;
    ownMemoryRead(worker, reading.private);
    worker.memory.workerDataRead = worker.memory.workerData?.bytes ?? 0;
    mayAskToEvict(worker);
    worker.memory.kinds = kindsOf(useOf(state, worker), worker.memory.unmanaged, state.now);
    noteGrowth(worker);
  }
  if (event.workers.some(({ worker }) => worker === state.phases.wide?.id)) kernelMeasured(state);
  noteOthers(state, event.used);
  for (const worker of state.workers.values()) settleWorker(state, worker, "reading");
  spillUnderPressure(state);
  for (const worker of state.memory.heavy) warnOfUnmanaged(state, worker);
}

/** Limits have changed: judges workers again by their last readings. */
export function standAgain(state: State): void {
  for (const worker of state.workers.values()) if (worker.phase !== "stopping") settleWorker(state, worker, "reading");
  spillUnderPressure(state);
}

/** The size of the worker data has changed: a worker that has too much gets no task, even before the next reading. */
export function workerDataHolds(state: State, worker: WorkerState, bytes: Bytes, evicts: boolean): void {
  worker.memory.workerData = { bytes, evicts, hasNothingToEvict: false };
  mayAskToEvict(worker);
  if (worker.memory.reading === null) return;
  settleWorker(state, worker, "word");
  spillUnderPressure(state);
}

/** The worker data has freed all that it can: other memory must be freed instead. */
export function cannotEvict(state: State, worker: WorkerState): void {
  if (worker.memory.workerData === null) return;
  worker.memory.workerData = { ...worker.memory.workerData, hasNothingToEvict: true };
  spillUnderPressure(state);
}

/** After a task. The wide kernel has no functions that could keep anything. */
export function heapTold(state: State, worker: WorkerState, heap: HeapUse): void {
  if (worker === state.phases.wide) return;
  heapAfterTask(worker, heap);
  settleHeavy(state, worker);
}

function settleWorker(state: State, worker: WorkerState, by: "reading" | "word"): void {
  stand(state, worker, by);
  settleHeavy(state, worker);
}

function settleHeavy(state: State, worker: WorkerState): void {
  if (isHeavy(state, worker)) state.memory.heavy.add(worker);
  else state.memory.heavy.delete(worker);
}
