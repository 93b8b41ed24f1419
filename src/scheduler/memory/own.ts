/**
 * A worker's private memory as last known. Readings come every 200 ms; a worker also says what its tasks took, so that
 * memory that a task has left, or given back, is known at once. What a task took becomes the appetite of its operator
 * (needs/appetite.ts).
 */
import type { Bytes } from "../../protocol/index.ts";
import { batchTook, stepTrials, taskTook } from "../needs/index.ts";
import type { OperatorState, State, TaskState, WorkerState } from "../state/index.ts";

/** A worker that has no more than this above its ground has been left nothing. */
const NOTHING: Bytes = 16 * 2 ** 20;

/** What a worker has before its first task, where nothing is known: 50 MiB were measured. */
const FRESH: Bytes = 64 * 2 ** 20;

/** As `leftBy` names an operator. */
function nameOf({ job, spec }: OperatorState): string {
  return `${job.id}/${spec.id}`;
}

/** What earlier tasks have left in the worker, or its own code has grown by. */
export function leftIn({ memory: { own } }: WorkerState): Bytes {
  return own.now === null || own.ground === null ? 0 : own.now - own.ground;
}

/** What the worker has besides the memory of a task of the operator, which uses what the operator has left again. */
export function besideTask(worker: WorkerState, operator: OperatorState, had: Bytes | null): Bytes {
  const { own } = worker.memory;
  if (isItsOwn(worker, operator) && own.ground !== null) return own.ground;
  return had ?? own.ground ?? 0;
}

/** What the worker has above its ground is the operator's: left by its tasks, or an instance of its class. */
function isItsOwn(worker: WorkerState, operator: OperatorState): boolean {
  return worker.memory.own.leftBy === nameOf(operator) || (operator.isClass && worker.ran.has(operator));
}

/** What a worker has before its first task, by what the other workers have without one. */
export function freshWorker({ workers }: State): Bytes {
  let least = Number.POSITIVE_INFINITY;
  for (const { memory } of workers.values()) least = Math.min(least, memory.own.ground ?? least);
  return Number.isFinite(least) ? least : FRESH;
}

export function ownMemoryRead(worker: WorkerState, bytes: Bytes): void {
  const { own } = worker.memory;
  own.now = bytes;
  // Before its first task a worker is still loading: what it has then is not its ground.
  if (own.ground !== null) own.ground = Math.min(own.ground, bytes);
}

export function taskBegins({ memory: { own } }: WorkerState): void {
  own.before = own.now;
  own.isTrimmed = false;
}

/** The task has handed on its first batch. */
export function firstBatchTook(state: State, task: TaskState, peak: Bytes, added: Bytes): void {
  const { worker, operator } = task;
  if (worker === null) return;
  const { own } = worker.memory;
  own.before = peak - added;
  own.ground = Math.min(own.ground ?? own.before, own.before);
  own.now = peak;
  batchTook(state, operator, peak - besideTask(worker, operator, own.before));
}

/** The task goes on, and was seen with this much. */
export function taskHas(state: State, task: TaskState, peak: Bytes): void {
  const { worker, operator } = task;
  if (worker === null || worker.memory.own.before === null || state.trials.has(operator)) return;
  batchTook(state, operator, peak - besideTask(worker, operator, worker.memory.own.before));
}

/** A task of the operator has ended in the worker, and has left so much. */
export function taskTookAndLeft(
  state: State,
  worker: WorkerState,
  operator: OperatorState,
  { peakMemory, addedMemory }: { readonly peakMemory: Bytes; readonly addedMemory: Bytes },
  left: Bytes,
): void {
  const { own } = worker.memory;
  const before = peakMemory - addedMemory;
  own.ground = Math.min(own.ground ?? before, before);
  const isClean = before - own.ground <= NOTHING;
  const isAllItsOwn = isClean || isItsOwn(worker, operator);
  taskTook(state, operator, peakMemory - besideTask(worker, operator, before), isAllItsOwn);
  own.leftBy = isAllItsOwn ? nameOf(operator) : null;
  own.now = left;
  own.before = null;
}

/** What is left after a trim is what the worker has without a task, but for instances of classes. */
export function ownMemoryTrimmed({ memory: { own }, ran }: WorkerState, after: Bytes): void {
  own.now = after;
  own.ground = ran.size === 0 ? after : Math.min(own.ground ?? after, after);
  own.leftBy = null;
  own.isTrimmed = true;
}

/** Trials go on when their time is over. */
export function settleTrials(state: State): void {
  if (state.trials.size > 0) stepTrials(state, (operator) => takenSoFar(state, operator));
}

function takenSoFar(state: State, { phases: { running } }: OperatorState): Bytes {
  let taken = 0;
  for (const { worker } of running.values()) {
    const { now = null, before = null } = worker?.memory.own ?? {};
    if (now !== null) taken = Math.max(taken, now - (before ?? freshWorker(state)));
  }
  return taken;
}
