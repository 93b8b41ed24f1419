/**
 * The JavaScript heap of a worker, as the worker tells of it after each task and each trim: is it filling up for good? V8 ends a
 * process at its heap limit, which may be far below the worker's, so that the ladder would come too late.
 *
 *   past the middle between what the last trim left and the limit ──▶ trimmed ──▶ past half of the limit, and grown? replaced
 *
 * Only after a trim is it known what of it is garbage. Where all that had come was, ever more tasks go by before the next trim.
 */

import { heapFor } from "../../memory/index.ts";
import type { Bytes, HeapUse } from "../../protocol/index.ts";
import type { State, WorkerState } from "../state/index.ts";

export interface HeapPast {
  /** As it was last told; null: nothing was. */
  now: HeapUse | null;
  /** What it had after its first task. */
  first: Bytes | null;
  /** The same, or after the first task of the last of its classes, as far as trims have left it; null: nobody knows. */
  settled: Bytes | null;
  /** What the last trim left. */
  kept: Bytes;
  /** So many tasks go by after a trim, and so many have still to. */
  patience: number;
  waits: number;
}

/** Of the limit: past it the next task may not find what it needs. */
const FULL = 0.5;
/** Of what the last trim left free. */
const SUSPECT = 0.5;
/** Of the limit: what may come to stay, from first to last and from one trim to the next. */
const GROWN_BEYOND = 0.1;
const GROWN_AGAIN = 0.05;
const MOST_PATIENCE = 64;

export function noHeapPast(): HeapPast {
  return { now: null, first: null, settled: null, kept: 0, patience: 1, waits: 0 };
}

/** A task has left the worker. */
export function heapAfterTask({ heap }: WorkerState, now: HeapUse): void {
  heap.now = now;
  heap.first ??= now.used;
  heap.settled ??= now.used;
  heap.waits = Math.max(0, heap.waits - 1);
}

export function heapAfterTrim(state: State, worker: WorkerState, now: HeapUse): void {
  const { heap } = worker;
  heap.now = now;
  const hasGrown = now.used > heap.kept + GROWN_AGAIN * heapLimitOf(state, worker);
  heap.patience = hasGrown ? 1 : Math.min(MOST_PATIENCE, 2 * heap.patience);
  heap.waits = heap.patience;
  heap.kept = now.used;
  if (heap.settled !== null) heap.settled = Math.min(heap.settled, now.used);
}

/** It may be filling up: a trim will tell. */
export function isHeapSuspect(state: State, worker: WorkerState): boolean {
  const { now, kept, waits } = worker.heap;
  return now !== null && waits === 0 && now.used > kept + SUSPECT * (heapLimitOf(state, worker) - kept);
}

/** Past half of its limit; after a trim, with what is in use alone. */
export function isHeapHigh(state: State, worker: WorkerState): boolean {
  const { now } = worker.heap;
  return now !== null && now.used > FULL * heapLimitOf(state, worker);
}

/** After a trim: tasks have filled it, beyond what the first of them, or what classes have constructed, had to have. */
export function isHeapFilled(state: State, worker: WorkerState): boolean {
  const { now, settled } = worker.heap;
  if (now === null || settled === null || !isHeapHigh(state, worker)) return false;
  return now.used > settled + GROWN_BEYOND * heapLimitOf(state, worker);
}

/** V8's figure includes its young generation: at the limit of the old one it gives up. */
export function heapLimitOf(state: State, worker: WorkerState): Bytes {
  return Math.min(
    worker.heap.now?.limit ?? Number.POSITIVE_INFINITY,
    heapOf(state, worker) ?? Number.POSITIVE_INFINITY,
  );
}

/** V8's part of what the worker may have. */
export function heapOf(state: State, worker: WorkerState): Bytes | null {
  if (state.heapLimit === null || worker.memory <= state.workerMemory) return state.heapLimit;
  return heapFor(worker.memory);
}
