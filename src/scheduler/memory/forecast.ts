/**
 * Whether the node holds one more task: what it will use once every running task has taken what tasks of its operator
 * take (needs/appetite.ts). Tasks that fit one by one and not together wait for each other, so that nothing has to be
 * ended for memory.
 *
 *   the node's memory  │ others │ store │ worker: now, or before its task + appetite │ … │ the task │ free │ margin │
 *
 * A task always starts if no other task has a worker: it fits at least as well as it ever will. A task that has run for
 * long counts with what it has, and nothing waits for its end. If all running tasks wait for room or for input, nothing
 * would end: stall.ts then overrules this for a task that helps. Until something is known of an operator, its first
 * task may take all that a worker may have.
 */
import type { Bytes, Milliseconds } from "../../protocol/index.ts";
import { beginTrial, isUnknown } from "../needs/index.ts";
import { settleIdle } from "../phases/index.ts";
import { type OperatorState, type State, send, type TaskState, type WorkerState } from "../state/index.ts";
import { LONG } from "./alone.ts";
import { RELIEF_MARGIN } from "./monitor.ts";
import { besideTask, freshWorker, leftIn } from "./own.ts";

/** A trim that gives back less is not worth the time. */
const WORTH_TRIMMING: Bytes = 32 * 2 ** 20;
/** What a task may take beyond what is expected of it, however little the node has left. */
const LEEWAY: Bytes = 64 * 2 ** 20;
/** How long a start waits for a trim. */
const TRIM_GRACE: Milliseconds = 2_000;

/** The node was read at the same moment as the workers. */
export function noteOthers(state: State, used: Bytes | null): void {
  if (used === null) {
    state.memory.others = null;
    return;
  }
  let own = storeOf(state);
  for (const { memory } of state.workers.values()) own += memory.own.now ?? 0;
  state.memory.others = used - own;
}

function isWatched({ options: { memory } }: State): boolean {
  return memory !== null && memory.memoryMonitorRefreshMs > 0;
}

/** What the node may use: from here on, the monitor takes memory away from the store. Null: it was not measured. */
function mostUsed(state: State): Bytes | null {
  const { node, others } = state.memory;
  const { memory } = state.options;
  if (!isWatched(state) || memory === null || node === null || others === null) return null;
  return (memory.memoryUsageThreshold - RELIEF_MARGIN) * node.total;
}

function storeOf({ ledger }: State): Bytes {
  return ledger.live + ledger.cached;
}

/**
 * The operator's first task begins, and nothing is known of its memory. If all workers fit into the node whatever they
 * do, no other task waits for its first batch.
 */
export function mayTry(state: State, operator: OperatorState): boolean {
  if (!isUnknown(operator) || operator.phases.running.size > 0 || state.options.workers < 2) return false;
  if (!isWatched(state) || doAllFit(state)) return false;
  beginTrial(state, operator);
  return true;
}

/** All workers at their limits; false also before the node was measured. */
function doAllFit(state: State): boolean {
  const most = mostUsed(state);
  if (most === null) return false;
  let used = (state.memory.others ?? 0) + storeOf(state);
  for (const { memory } of state.workers.values()) used += Math.max(memory.limit, memory.own.now ?? 0);
  return used <= most;
}

/** Whether the node holds one more task of the operator. */
export function hasMemory(state: State, operator: OperatorState): boolean {
  if (!isScarceFor(state, operator)) return true;
  let least = Number.POSITIVE_INFINITY;
  for (const worker of state.phases.idle) least = Math.min(least, addedBy(state, worker, operator));
  if (forecast(state) + least <= (mostUsed(state) ?? least)) return true;
  return !isAnybodyAtIt(state);
}

/** It takes a closer look to say whether the node holds one more task of the operator. */
export function isScarceFor(state: State, operator: OperatorState): boolean {
  const most = mostUsed(state);
  const { spec } = operator;
  if (most === null || spec.kind !== "tasks" || spec.request.memory > 0) return false;
  const bytes = expectedOf(state, operator);
  if (bytes === 0) return false;
  let used = Math.max(state.memory.node?.used ?? 0, (state.memory.others ?? 0) + storeOf(state)) + bytes;
  for (const job of state.jobs.values()) {
    for (const one of job.operators) used += one.phases.running.size * expectedOf(state, one);
  }
  return used > most;
}

/** What a task takes at the most, as far as that is known. */
function expectedOf(state: State, operator: OperatorState): Bytes {
  const { appetite } = operator.needs;
  if (appetite !== null) return appetite.bytes;
  if (!isUnknown(operator) || state.options.workers < 2) return 0;
  return Math.max(0, state.memory.workerMemory - freshWorker(state));
}

function forecast(state: State): Bytes {
  let used = (state.memory.others ?? 0) + storeOf(state);
  for (const worker of state.workers.values()) used += atItsPeak(state, worker);
  return used;
}

function atItsPeak(state: State, worker: WorkerState): Bytes {
  const { task } = worker;
  const now = worker.memory.own.now ?? freshWorker(state);
  if (task === null || isLong(state, task)) return now;
  const { operator } = task;
  const before = worker.memory.own.before ?? freshWorker(state);
  return Math.max(now, besideTask(worker, operator, before) + expectedOf(state, operator));
}

/** By how much the idle worker grows with a task of the operator. */
export function addedBy(state: State, worker: WorkerState, operator: OperatorState): Bytes {
  const now = worker.memory.own.now ?? freshWorker(state);
  return Math.max(0, besideTask(worker, operator, now) + expectedOf(state, operator) - now);
}

/**
 * What the idle worker may have with a task of the operator, if the other tasks take what is expected of them: a task
 * that suddenly takes far more is refused memory inside its worker, before the node is full. Null: the worker's own
 * limit is lower, or no other task runs.
 */
export function mostFor(state: State, worker: WorkerState, operator: OperatorState): Bytes | null {
  const most = mostUsed(state);
  if (most === null || !operator.needs.countsAppetite || !isAnotherRunning(state, worker)) return null;
  const now = worker.memory.own.now ?? freshWorker(state);
  const spare = most - forecast(state) + now;
  const expected = now + addedBy(state, worker, operator);
  const bytes = Math.max(spare, expected + LEEWAY);
  return bytes < worker.memory.limit ? Math.ceil(bytes) : null;
}

function isAnotherRunning({ workers }: State, worker: WorkerState): boolean {
  for (const one of workers.values()) if (one !== worker && one.task !== null) return true;
  return false;
}

/** Some task runs, and its end will free memory; or a worker is about to give some back. */
function isAnybodyAtIt(state: State): boolean {
  for (const worker of state.workers.values()) {
    const { task, recycling } = worker;
    if (task !== null && !isLong(state, task)) return true;
    if (recycling.trimming?.isVain === false || isWorthTrimming(state, worker)) return true;
  }
  return false;
}

function isLong({ now }: State, { run: { startedAt } }: TaskState): boolean {
  return now - startedAt >= LONG;
}

/** A task lacks memory: idle workers give back what earlier tasks have left in them. */
export function trimForRoom(state: State): void {
  for (const worker of [...state.phases.idle]) {
    if (!isWorthTrimming(state, worker)) continue;
    worker.recycling.trimming = { reason: "room", since: state.now, answeredAt: null, isVain: false };
    state.memory.heavy.add(worker);
    settleIdle(state, worker);
    send(state, worker, { type: "trim", request: null });
  }
}

function isWorthTrimming({ phases: { idle } }: State, worker: WorkerState): boolean {
  return idle.has(worker) && !worker.memory.own.isTrimmed && leftIn(worker) >= WORTH_TRIMMING;
}

/** The worker has given back what it could, or does not answer: it works on in any case. */
export function endTrimForRoom(state: State, worker: WorkerState): void {
  const { trimming } = worker.recycling;
  if (trimming === null || (trimming.answeredAt === null && state.now < trimming.since + TRIM_GRACE)) return;
  worker.recycling.trimming = null;
  worker.memory.own.isTrimmed = true;
  settleIdle(state, worker);
}
