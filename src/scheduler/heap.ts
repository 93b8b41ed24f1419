/**
 * The JavaScript heap of a worker, as the worker tells of it after each task and each trim: is it filling up for good? V8 ends a
 * process at its heap limit, which may be far below the worker's, so that the ladder would come too late.
 *
 *   more after each task, and past the middle between what the last trim left and the limit ──▶ trimmed ──▶ past half of the limit? replaced
 *
 * Only after a trim is it known what of it is garbage. Where most was, the next trim waits until a quarter of the limit, or more,
 * has come: garbage costs no more trims than V8 would collect it by itself.
 */
import type { Bytes, HeapUse } from "../protocol/index.ts";
import { heapOf, instancesIn } from "./raised.ts";
import type { State, WorkerState } from "./state.ts";

export interface HeapPast {
  /** As it was last told; null: nothing was. */
  now: HeapUse | null;
  first: Bytes | null;
  /** After its last tasks, the oldest first. */
  readonly after: Bytes[];
  /** What it had after the first task of the last of its classes, or what was left of that; null: nobody knows. */
  settled: Bytes | null;
  /** What the last trim left. */
  kept: Bytes;
}

/** So often in a row there was more than before. */
export const GROWN = 3;
export const GROWN_PAST = 0.5;
/** Of the limit: what an instance may come to have beyond what it began with. */
export const GROWN_BEYOND = 0.1;

export function noHeapPast(): HeapPast {
  return { now: null, first: null, after: [], settled: null, kept: 0 };
}

/** The last of so many is what there is after one more task. */
export function noteAfterTask(after: Bytes[], bytes: Bytes): void {
  after.push(bytes);
  if (after.length > GROWN + 1) after.shift();
}

export function isGrowing(after: readonly Bytes[]): boolean {
  return after.length > GROWN && after.every((bytes, i) => bytes > (after[i - 1] ?? -1));
}

/** A task has left the worker. */
export function heapAfterTask({ heap }: WorkerState, now: HeapUse): void {
  heap.now = now;
  heap.first ??= now.used;
  heap.settled ??= now.used;
  noteAfterTask(heap.after, now.used);
}

export function heapAfterTrim({ heap }: WorkerState, now: HeapUse): void {
  heap.now = now;
  heap.kept = now.used;
  heap.after.length = 0;
  if (heap.settled !== null) heap.settled = Math.min(heap.settled, now.used);
}

/** It may be filling up: a trim will tell. */
export function isHeapGrowing(state: State, worker: WorkerState): boolean {
  const { now, after, kept } = worker.heap;
  return now !== null && isGrowing(after) && now.used > kept + GROWN_PAST * (heapLimitOf(state, worker) - kept);
}

/** After a trim: it is in the way of the tasks to come, and not what classes have constructed. */
export function isHeapFull(state: State, worker: WorkerState): boolean {
  const { now, settled } = worker.heap;
  const limit = heapLimitOf(state, worker);
  if (now === null || now.used <= GROWN_PAST * limit) return false;
  return instancesIn(worker) === 0 || (settled !== null && now.used > settled + GROWN_BEYOND * limit);
}

/** V8's figure includes its young generation: at the limit of the old one it gives up. */
export function heapLimitOf(state: State, worker: WorkerState): Bytes {
  return Math.min(
    worker.heap.now?.limit ?? Number.POSITIVE_INFINITY,
    heapOf(state, worker) ?? Number.POSITIVE_INFINITY,
  );
}
