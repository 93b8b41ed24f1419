/**
 * Finds workers that keep memory between tasks, trims them and, if that does not help, replaces them.
 *
 *   without a task ──a reason──▶ resting: asked to trim ──answered and read, or no answer──▶ still so? ──no──▶ works on
 *                                                                                               └──yes─▶ dismissed
 *
 * There are four reasons:
 * - it is paused and has nothing left to spill;
 * - after a task, its unmanaged memory alone is above `spill`;
 * - it leaks slowly: it is past half of its limit, and has more after each of its last tasks than after the previous
 *   one;
 * - its heap fills up (heap.ts).
 * A worker is also trimmed if a task lacks the memory that others have left in it (forecast.ts); it is never replaced
 * for that.
 * "After a task" means the first reading after it. Half of the limit is what the next task needs. Garbage that was not
 * collected yet is gone after the trim, so no worker is replaced for it. Class instances are not a leak: only growth
 * after their construction is a reason, unless the worker is paused. A worker that is paused before its first task is
 * not replaced, because the next one would be no better: if all are, jobs fail.
 */

import { OutOfMemoryError, toWire } from "../../errors/index.ts";
import { TWO_CAUSES } from "../../notices/index.ts";
import type { Bytes, HeapUse, Milliseconds, TrimReport } from "../../protocol/index.ts";
import { formatSize } from "../../units/index.ts";
import { isRunnable } from "../flow/index.ts";
import { classRan, failJob, settleIdle, takeInspections } from "../phases/index.ts";
import {
  isWide,
  type OperatorState,
  type State,
  send,
  type TaskState,
  type Trimming,
  type TrimReason,
  tell,
  type WorkerHistory,
  type WorkerState,
  watch,
} from "../state/index.ts";
import { endTrimForRoom } from "./forecast.ts";
import { heapAfterTrim, heapLimitOf, isHeapFilled, isHeapHigh, isHeapSuspect } from "./heap.ts";
import { hasNothingToSpill, once } from "./ladder.ts";
import { ownMemoryTrimmed } from "./own.ts";
import { instancesIn } from "./raised.ts";
import { dismiss } from "./workers.ts";

/** A worker that has not answered in this time has freed nothing. */
const TRIM_GRACE: Milliseconds = 2_000;
/** The same for a heap trim: collecting a heap of some gigabytes takes seconds, and its size may have a good reason. */
const HEAP_GRACE: Milliseconds = 30_000;
/** How many times in a row it must have grown. */
const GROWN = 3;
const GROWN_PAST = 0.5;
/** Share of the limit: how much an instance may grow beyond its size at the start. */
const GROWN_BEYOND = 0.1;
/** Readings that it takes to measure a worker and to end it. */
const UNSEEN = 2;

export function taskLeft(worker: WorkerState, operator: OperatorState): void {
  const { history } = worker.recycling;
  const { workerData } = worker.memory;
  const { name } = operator.spec;
  worker.memory.kernelBytes = 0;
  // What the task used may leave memory now.
  if (workerData?.hasNothingToEvict) worker.memory.workerData = { ...workerData, hasNothingToEvict: false };
  history.tasks += 1;
  history.isMixed ||= history.operator !== null && history.operator !== name;
  history.operator = name;
  if (!operator.isClass || worker.ran.has(operator)) return;
  classRan(worker, operator);
  history.settled = null;
  worker.recycling.heap.settled = null;
}

/** Called with each reading. */
export function noteGrowth(worker: WorkerState): void {
  const { phase } = worker;
  const { history } = worker.recycling;
  const { reading } = worker.memory;
  if (reading === null || phase === "starting") return;
  history.first ??= reading.private;
  if (history.noted === history.tasks) return;
  history.noted = history.tasks;
  history.after.push(reading.private);
  if (history.after.length > GROWN + 1) history.after.shift();
  history.settled ??= reading.private;
}

/**
 * Whether the worker's memory belongs to its class instances: the next worker would have as much after its first task.
 */
function isAsConstructed(worker: WorkerState): boolean {
  const { history } = worker.recycling;
  const { reading, limit: memory } = worker.memory;
  const instances = instancesIn(worker);
  if (instances === 0) return false;
  if (instances !== worker.ran.size || history.settled === null) return true;
  return (reading?.private ?? 0) <= history.settled + GROWN_BEYOND * memory;
}

/** The answer to `trim`. */
export function trimmed(state: State, worker: WorkerState, { before, after }: TrimReport, heap: HeapUse): void {
  const { id, pid } = worker;
  const { trimming } = worker.recycling;
  if (trimming !== null) trimming.answeredAt ??= state.now;
  ownMemoryTrimmed(worker, after);
  heapAfterTrim(state, worker, heap);
  watch(state, { type: "trimmed", worker: id, pid, returned: Math.max(0, before - after) });
}

export function trimDeadline({ memory: { heavy }, now }: State): Milliseconds {
  let at = Number.POSITIVE_INFINITY;
  for (const { recycling } of heavy) {
    if (recycling.trimming !== null && graceEnds(recycling.trimming) > now)
      at = Math.min(at, graceEnds(recycling.trimming));
  }
  return at;
}

function graceEnds({ since, reason }: Trimming): Milliseconds {
  return since + (reason === "heap" ? HEAP_GRACE : TRIM_GRACE);
}

/** Called before tasks are given out: which workers must be trimmed, and which are done with it. */
export function settleTrims(state: State): void {
  for (const worker of state.memory.heavy) {
    if (worker.phase !== "idle") continue;
    if (worker.recycling.trimming === null) beginTrimming(state, worker);
    else if (worker.recycling.trimming.reason === "room") endTrimForRoom(state, worker);
    else endTrimming(state, worker, worker.recycling.trimming);
  }
  if (state.memory.paused.size > 0) failInVain(state);
}

/** The worker spills, is paused or being trimmed, or may have a reason to be trimmed after its task. */
export function isHeavy(state: State, worker: WorkerState): boolean {
  if (worker.phase === "stopping") return false;
  return (
    worker.memory.standing.pressure !== "normal" ||
    worker.recycling.trimming !== null ||
    isPastHalf(state, worker) ||
    isUnmanagedHigh(state, worker) ||
    (counts(state) && isHeapSuspect(state, worker))
  );
}

function beginTrimming(state: State, worker: WorkerState): void {
  const reason = reasonToRest(state, worker);
  if (reason === null) return;
  worker.recycling.trimming = { reason, since: state.now, answeredAt: null, isVain: false };
  settleIdle(state, worker);
  send(state, worker, { type: "trim", request: null });
}

function reasonToRest(state: State, worker: WorkerState): TrimReason | null {
  const { history } = worker.recycling;
  const { limit: memory } = worker.memory;
  if (worker.memory.paused !== null) return hasNothingToSpill(worker) ? "paused" : null;
  if (history.tasks === 0) return null;
  if (Number.isFinite(memory) && !isAsConstructed(worker)) {
    if (isUnmanagedHigh(state, worker) && hasNothingToSpill(worker)) return "unmanaged";
    if (isGrowing(history) && isPastHalf(state, worker)) return "growing";
  }
  return counts(state) && isHeapSuspect(state, worker) ? "heap" : null;
}

function isStillSo(state: State, worker: WorkerState, reason: TrimReason): boolean {
  switch (reason) {
    case "paused":
      return worker.memory.paused !== null;
    case "unmanaged":
      return isUnmanagedHigh(state, worker);
    case "growing":
      return isPastHalf(state, worker);
    case "heap":
      return isHeapFilled(state, worker);
    case "room":
      return false;
  }
}

function isUnmanagedHigh(state: State, worker: WorkerState): boolean {
  const spill = state.options.memory?.thresholds.spill ?? false;
  return counts(state) && spill !== false && unmanagedOf(worker) > spill * worker.memory.limit;
}

function isPastHalf(state: State, worker: WorkerState): boolean {
  return counts(state) && unmanagedOf(worker) > GROWN_PAST * worker.memory.limit;
}

/** A threshold that depends on unmanaged memory is set. */
function counts({ options: { memory } }: State): boolean {
  if (memory === null || memory.measure === "managed") return false;
  const { spill, pause, terminate } = memory.thresholds;
  return spill !== false || pause !== false || terminate !== false;
}

function unmanagedOf({ memory: { kinds } }: WorkerState): Bytes {
  return kinds.unmanaged + kinds.recent;
}

function isGrowing({ after }: WorkerHistory): boolean {
  return after.length > GROWN && after.every((bytes, i) => bytes > (after[i - 1] ?? -1));
}

/**
 * The task has left a full worker. Earlier tasks may have filled it: it had more after each of them, half of its heap
 * was in use after the last, or it has not been measured since. In a fresh worker the task may then succeed unchanged.
 */
export function mayBeFullOfOthers(state: State, worker: WorkerState, task: TaskState): boolean {
  const { now } = state;
  const { memory } = state.options;
  const { history } = worker.recycling;
  if (history.tasks < 2) return false;
  return isGrowing(history) || isHeapHigh(state, worker) || now - task.run.startedAt < UNSEEN * (memory?.interval ?? 0);
}

function endTrimming(state: State, worker: WorkerState, trimming: Trimming): void {
  const { since, answeredAt, reason } = trimming;
  // The answer reports the heap; the rest is known only after a reading.
  const isTold = reason === "heap" ? answeredAt !== null : worker.memory.readAt > since;
  if (isTold && !isStillSo(state, worker, reason)) {
    worker.recycling.trimming = null;
    worker.recycling.history.after.length = 0;
    settleIdle(state, worker);
    return;
  }
  const isKnown = answeredAt !== null && (reason === "heap" || worker.memory.readAt > answeredAt);
  if (trimming.isVain || (!isKnown && state.now < graceEnds(trimming))) return;
  if (worker.recycling.history.tasks === 0 && state.ledger.managed(worker.id) === 0) trimming.isVain = true;
  else recycle(state, worker, reason);
}

function recycle(state: State, worker: WorkerState, reason: TrimReason): void {
  const { id, pid } = worker;
  const { history } = worker.recycling;
  const { reading } = worker.memory;
  const why = reason === "heap" ? whyForHeap(state, worker) : whyRecycled(state, worker);
  watch(state, { type: "recycled", worker: id, pid, private: reading?.private ?? 0, why });
  once(state, `recycled/${history.operator}`, { kind: "replaced", worker: id, pid, why });
  dismiss(state, worker);
}

function whyRecycled({ ledger, options: { memory } }: State, worker: WorkerState): string {
  const { id } = worker;
  const { history } = worker.recycling;
  const { reading, workerData } = worker.memory;
  const now = reading?.private ?? 0;
  const blocks = ledger.managed(id);
  if (blocks > now) {
    return `it is answerable for ${formatSize(blocks)} of blocks in memory that cannot leave: they are being read, or the disks refuse`;
  }
  if (workerData !== null && workerData.bytes * 2 > now) {
    const has = `${formatSize(workerData.bytes)} of its ${formatSize(worker.memory.limit)}`;
    const no = workerData.evicts ? ", and frees no more" : "";
    return `its worker data (data) holds ${has}${no}; with more memory (memoryLimit) it would stay`;
  }
  if (isAsConstructed(worker)) {
    const needed = formatSize(Math.ceil(now / (memory?.thresholds.spill || 1)));
    return `what classes have constructed in it takes ${formatSize(now)} of its ${formatSize(worker.memory.limit)}; with more than ${needed} (the function's option memory) it would stay`;
  }
  return `its memory has grown from ${formatSize(history.first ?? 0)} to ${formatSize(now)} over ${tasksText(history)}: ${TWO_CAUSES}`;
}

function whyForHeap(state: State, worker: WorkerState): string {
  const { first, now } = worker.recycling.heap;
  const grown = `from ${formatSize(first ?? 0)} to ${formatSize(now?.used ?? 0)} of its ${formatSize(heapLimitOf(state, worker))}`;
  return (
    `its JavaScript heap has grown ${grown} over ${tasksText(worker.recycling.history)}: a leak (a function that keeps what it made, in a variable ` +
    "outside of it)"
  );
}

function tasksText({ tasks, isMixed, operator }: WorkerHistory): string {
  return `${tasks} ${tasks === 1 ? "task" : "tasks"}${isMixed ? ", the last" : ""} of ${operator}`;
}

/** No worker may have a task, and none ever will: waiting jobs fail, with the figures. */
function failInVain(state: State): void {
  const { workers, jobs } = state;
  const { memory } = state.options;
  const { workerMemory } = state.memory;
  for (const { recycling } of workers.values()) if (recycling.trimming?.isVain !== true) return;
  const [first] = state.memory.paused;
  const kinds = first?.memory.kinds ?? null;
  const pause = memory?.thresholds.pause ?? false;
  if (kinds === null || pause === false) return;
  const has = formatSize(kinds.process);
  const message =
    `A worker has ${has} before its first task, above ${pause} of its limit of ${formatSize(workerMemory)}: no task can start. ` +
    `Give workers more (memoryLimit above ${formatSize(Math.ceil(kinds.process / pause))}), or turn the threshold off (worker.memory.pause: false).`;
  const remedies = [`memoryLimit above ${formatSize(Math.ceil(kinds.process / pause))}`, "worker.memory.pause: false"];
  for (const job of jobs.values()) {
    const waiting = job.operators.find((one) => !isWide(one) && isRunnable(state, one, true));
    if (job.phase !== "running" || job.phases.runningTasks > 0 || waiting === undefined) continue;
    const { name } = waiting.spec;
    failJob(state, job, toWire(new OutOfMemoryError(`${name}: ${message}`, name, "pause", kinds.process, 0, remedies)));
  }
  for (const { request } of takeInspections(state)) {
    const error = toWire(new OutOfMemoryError(message, "inspect", "pause", kinds.process, 0, remedies));
    tell(state, { type: "refused", request, error });
  }
}
