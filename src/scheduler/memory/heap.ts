/**
 * Finds workers whose JavaScript heap fills up for good, from what they report after each task and each trim. V8 ends a
 * process at its heap limit, which may be far below the worker's limit: the ladder would act too late.
 *
 *   past the middle between the last trim's rest and the limit ──▶ trimmed ──▶ past half of the limit, grown? replaced
 *
 * Only a trim shows how much of the heap is garbage. If all growth was garbage, more tasks go by before each next trim.
 */

import { heapFor } from "../../memory/index.ts";
import type { Bytes, HeapUse } from "../../protocol/index.ts";
import type { State, WorkerState } from "../state/index.ts";

/** Share of the limit: past it, the next task may not get the memory it needs. */
const FULL = 0.5;
/** Share of what the last trim left free. */
const SUSPECT = 0.5;
/** Share of the limit: growth that is accepted, in total and from one trim to the next. */
const GROWN_BEYOND = 0.1;
const GROWN_AGAIN = 0.05;
const MOST_PATIENCE = 64;

/** A task has left the worker. */
export function heapAfterTask({ recycling: { heap } }: WorkerState, now: HeapUse): void {
  heap.now = now;
  heap.first ??= now.used;
  heap.settled ??= now.used;
  heap.waits = Math.max(0, heap.waits - 1);
}

export function heapAfterTrim(state: State, worker: WorkerState, now: HeapUse): void {
  const { heap } = worker.recycling;
  heap.now = now;
  const hasGrown = now.used > heap.kept + GROWN_AGAIN * heapLimitOf(state, worker);
  heap.patience = hasGrown ? 1 : Math.min(MOST_PATIENCE, 2 * heap.patience);
  heap.waits = heap.patience;
  heap.kept = now.used;
  if (heap.settled !== null) heap.settled = Math.min(heap.settled, now.used);
}

/** The heap may be filling up: a trim will show. */
export function isHeapSuspect(state: State, worker: WorkerState): boolean {
  const { now, kept, waits } = worker.recycling.heap;
  return now !== null && waits === 0 && now.used > kept + SUSPECT * (heapLimitOf(state, worker) - kept);
}

/** Whether the heap is above half of its limit. After a trim, only memory in use counts. */
export function isHeapHigh(state: State, worker: WorkerState): boolean {
  const { now } = worker.recycling.heap;
  return now !== null && now.used > FULL * heapLimitOf(state, worker);
}

/** After a trim: tasks have filled the heap beyond what its first task or its class instances needed. */
export function isHeapFilled(state: State, worker: WorkerState): boolean {
  const { now, settled } = worker.recycling.heap;
  if (now === null || settled === null || !isHeapHigh(state, worker)) return false;
  return now.used > settled + GROWN_BEYOND * heapLimitOf(state, worker);
}

/** V8's figure includes its young generation: at the limit of the old one it gives up. */
export function heapLimitOf(state: State, worker: WorkerState): Bytes {
  return Math.min(
    worker.recycling.heap.now?.limit ?? Number.POSITIVE_INFINITY,
    heapOf(state, worker) ?? Number.POSITIVE_INFINITY,
  );
}

/** V8's part of what the worker may have. */
export function heapOf(state: State, worker: WorkerState): Bytes | null {
  if (state.memory.heapLimit === null || worker.memory.limit <= state.memory.workerMemory)
    return state.memory.heapLimit;
  return heapFor(worker.memory.limit);
}
