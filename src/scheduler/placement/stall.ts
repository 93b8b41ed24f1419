/**
 * Resolves stalls. Policies and promises make tasks wait; this file makes sure that they do not wait for ever. Each
 * step is taken only when the earlier ones cannot help:
 *   a job stands still, and not because the program has stopped reading:
 *     0. GPUs that an idle instance has go to an operator that waits for them;
 *     1. a policy is overruled: room for the task that most waits for it, or a start, or a smaller bundle;
 *     2. blocks of jobs that the program has stopped reading go to disk, also for what the program itself puts into
 *        the store;
 *   a job stands still for lack of a worker, while others work:
 *     it gets one after a moment, as in 3, or, if there can be no more, the worker of a waiting task (slots.ts);
 *   no worker computes, no disk writes or reads:
 *     3. all workers have waiting tasks: an instance moves to another worker, one more worker is started, or, if there
 *        can be no more, a task of a job that the program has stopped reading gives its worker up;
 *     4. the wide kernel gives back what the store has lent it (lease.ts); a promise is broken (see room.ts);
 *     5. blocks that nobody reads go to disk, for the task that everything waits for;
 *     6. a task stands back: its input may go to disk as well, and it is run again later;
 *     7. the store is full of what is being read, or the disks refuse for too long: the program is asked to collect
 *        its garbage (collect.ts), and if that does not help, a job fails, with the figures.
 * Why a job gets through however small the store and wrong the estimates: by steps 5 and 6 the task that everything
 * waits for is alone in the end, with its input, the block it makes and what the program is reading. Step 7 comes only
 * if these do not fit together. Why no job waits for ever for another one's function, as long as there are more workers
 * than such functions: while there is room, a job stands still only for lack of a worker. Then some workers have tasks
 * that only wait. Extra workers are started for these, up to a bound; past it, one of the waiting tasks gives up its
 * worker to a task that starts before it. But jobs do wait for room that the job of an endless function holds: steps 4
 * to 7 are taken only if no task computes.
 */

import { StoreError, toWire, type WireError } from "../../errors/index.ts";
import type { Milliseconds } from "../../protocol/index.ts";
import { wholePages } from "../../store/index.ts";
import { formatSize } from "../../units/index.ts";
import {
  advance,
  awaited,
  bringBack,
  comesAgain,
  feedTask,
  isHungry,
  isStarving,
  retireFrom,
  standBack,
  stillToRead,
  unpinAll,
} from "../flow/index.ts";
import { reclaim } from "../memory/index.ts";
import { isWithWorker } from "../phases/index.ts";
import { hasDevices, idleInstance } from "../resources/index.ts";
import {
  DISK_GRACE,
  failJob,
  isPaused,
  type JobState,
  outputOf,
  READING_GRACE,
  SLOT_GRACE,
  STORE_GRACE,
  type State,
  type TaskState,
  tell,
} from "../state/index.ts";
import { type Leaving, makeRoom, mayCollectSince } from "../store/index.ts";
import { fetchNext, isWanted, type Leniency, mayFetch, startOneOf, waitsForOthers } from "./dispatch.ts";
import { grantProgram, grantTask, promisedBefore } from "./room.ts";
import {
  ANYTHING,
  asksOf,
  findWorker,
  findWorkerBeside,
  giveWorkerUp,
  helpful,
  isPastHelp,
  slotDeadline,
} from "./slots.ts";
import { byUrgency, isOnHeadPath, isUrgent } from "./view.ts";

/** True if it changed something, so that there may be more to do. */
export function resolveStall(state: State): boolean {
  const anybodyActive = isAnybodyActive(state);
  for (const job of state.jobs.values()) {
    if (!isStill(job) || isPaused(job)) continue;
    if (anybodyActive && findWorkerBeside(state, job)) return true;
    if (isDiskBusy(state)) continue;
    if (moveDevices(state, job, anybodyActive) || overrulePolicies(state, job, anybodyActive)) return true;
  }
  if (!isDiskBusy(state) && makeRoomForProgram(state)) return true;
  // A request that could not be served at once may have started writes or reads.
  if (anybodyActive || isDiskBusy(state)) {
    state.placement.slotStallSince = null;
    state.placement.storeStallSince = null;
    return false;
  }
  const found = findWorker(state);
  if (found !== "none") {
    state.placement.storeStallSince = null;
    return found === "changed";
  }
  return overruleStore(state);
}

/** When to check again if no event comes. */
export function stallDeadline(state: State): Milliseconds {
  const { slotStallSince, storeStallSince } = state.placement;
  if (slotStallSince !== null) return Math.max(slotStallSince + SLOT_GRACE, state.starts.pausedUntil);
  if (storeStallSince === null) return slotDeadline(state);
  // Its answer will be an event.
  if (state.store.collection.isAsked) return Number.POSITIVE_INFINITY;
  return storeDeadline(state, storeStallSince);
}

function isDiskBusy({ store: disk }: State): boolean {
  return disk.writing > 0 || disk.restoring.size > 0;
}

/** A worker that computes, ends, starts or answers will cause an event by itself. */
function isAnybodyActive(state: State): boolean {
  // A resting task is run again by itself.
  if (isDiskBusy(state) || state.memory.ending.size + state.phases.resting.size > 0) return true;
  const worker = state.phases.wide;
  if (state.placement.isWideOrdered) return true;
  // The wide kernel is not counted as a worker, but its task is among those that ask or wait to be fed.
  const wide = worker !== null && worker.phase !== "idle" ? 1 : 0;
  let waiting = state.phases.askingTasks;
  for (const task of state.phases.feeding) if (isStarving(task)) waiting += 1;
  // A paused worker falls below its threshold or is replaced, unless that was tried without success.
  for (const { recycling } of state.memory.paused) if (recycling.trimming?.isVain === true) waiting += 1;
  if (state.workers.size + wide - state.phases.idle.size - waiting > 0) return true;
  for (const job of state.jobs.values()) {
    if (job.operators.some((operator) => operator.phases.retiring.size > 0)) return true;
  }
  return false;
}

function isStill(job: JobState): boolean {
  return (
    job.phase === "running" &&
    job.phases.runningTasks === job.phases.askingTasks + starvingOf(job) &&
    !job.operators.some((operator) => operator.phases.retiring.size > 0)
  );
}

function starvingOf(job: JobState): number {
  let tasks = 0;
  for (const { input, phases } of job.operators) {
    if (input.fed !== null) for (const task of phases.running.values()) if (isStarving(task)) tasks += 1;
  }
  return tasks;
}

/**
 * Until when the program counts as reading some job's output, which it will give back. A program that has not been
 * active for long may have forgotten the output: then other jobs no longer wait for it at every step.
 */
function readsUntil(state: State): Milliseconds {
  let until = 0;
  for (const job of state.jobs.values()) {
    if (job.phase !== "running") continue;
    if (job.output.unread === 0 && !(isPaused(job) && outputOf(job).queue.length > 0)) continue;
    until = Math.max(until, state.jobs.size > 1 ? job.output.movedAt + READING_GRACE : Number.POSITIVE_INFINITY);
  }
  return until;
}

/** When to stop waiting for the program to release something. */
function storeDeadline(state: State, since: Milliseconds): Milliseconds {
  const until = readsUntil(state);
  if (state.now < until) return until;
  return since + (state.flow.outputs.size > 0 || state.placement.programRanges.size > 0 ? STORE_GRACE : 0);
}

function overrulePolicies(state: State, job: JobState, anybodyActive: boolean): boolean {
  // The operator's next task only waits for what other tasks have: its producers need not make more for it.
  const isLeftBehind = anybodyActive && isPastHelp(state, job);
  if (anybodyActive && !isLeftBehind && job.operators.some((one) => waitsForOthers(state, one))) return false;
  // A task that is not next in plan order waits, and leaves the room to the one that is.
  if (asksOf(state, job).some((task) => isUrgent(task) && grantTask(state, task, "promises"))) return true;
  const helps = helpful(state, job);
  for (const partial of [false, true]) {
    const leniency = { overBound: true, partial, headOnly: true, helps };
    if (startOneOf(state, job, leniency) || fetchOneOf(state, job, leniency)) return true;
  }
  if ([...state.jobs.values()].some((other) => other !== job && isPaused(other)) && serve(state, job, "paused"))
    return true;
  return isLeftBehind && giveWorkerUp(state, job);
}

/** What the program puts into the store comes before what it has stopped reading. */
function makeRoomForProgram(state: State): boolean {
  const [ask] = state.placement.programAsks;
  return ask !== undefined && changes(state, () => makeRoom(state, wholePages(ask.bytes), "paused"));
}

/** Input on disk, if nothing is fetched for the job yet. */
function fetchOneOf(state: State, job: JobState, leniency: Leniency): boolean {
  if (job.operators.some(({ phases: { fetching } }) => fetching.size > 0)) return false;
  const operator = job.operators.findLast(
    (one) => leniency.helps?.(one) !== false && isOnHeadPath(one) && mayFetch(state, one, leniency),
  );
  if (operator === undefined) return false;
  fetchNext(state, operator);
  return true;
}

/** Blocks leave memory only for the task that everything waits for; others take what is free. */
function breakPromise(state: State): boolean {
  const first = firstWaiting(state);
  return (
    asksOf(state, null).some((task) => grantTask(state, task, "none", task === first)) || grantProgram(state, "none")
  );
}

/** Tasks whose input is to come from disk: all of it before they start, or the next block of a fed one. */
function fetchesOf(state: State): TaskState[] {
  const hungry = [...state.phases.feeding].filter(isHungry);
  return [...state.phases.fetching, ...hungry].filter(({ operator: { job } }) => !isPaused(job));
}

/**
 * Makes room for the task that everything waits for, if it belongs to the job (null: to any job). Other tasks get none
 * of it, because they would take it first. The program comes before tasks. True if something leaves memory or comes
 * back.
 */
function serve(state: State, only: JobState | null, leaving: Leaving): boolean {
  const jobs = only === null ? [...state.jobs.values()].filter((job) => !isPaused(job)) : [only];
  for (const job of jobs) {
    const next = awaited(job).find((id) => !state.ledger.isInMemory(id));
    if (next !== undefined && changes(state, () => bringBack(state, next, leaving))) return true;
  }
  const first = firstWaiting(state);
  if (first !== undefined && (only === null || first.operator.job === only)) {
    return changes(state, () => makeRoomFor(state, first, leaving));
  }
  const ask = only === null ? state.placement.programAsks[0] : undefined;
  return ask !== undefined && changes(state, () => makeRoom(state, wholePages(ask.bytes), leaving));
}

function waitingTasks(state: State): TaskState[] {
  return [...asksOf(state, null), ...fetchesOf(state)].sort(byUrgency);
}

/** The task that everything waits for. If others have stood back for a task, it is that task until it is over. */
function firstWaiting(state: State): TaskState | undefined {
  const { yieldsTo } = state.placement;
  const waiting = waitingTasks(state);
  if (yieldsTo === null || !isUnderWay(yieldsTo)) return waiting[0];
  // It may have all of its input and wait for a worker: no other task is served before it.
  return waiting.find((task) => task === yieldsTo);
}

/** It has begun, or waits to begin. */
function isUnderWay(task: TaskState): boolean {
  return isWithWorker(task) || task.phase === "fetching" || waitsInItsOperator(task);
}

/** A task that makes a lost block again waits elsewhere. */
function waitsInItsOperator({ phase, repairs }: TaskState): boolean {
  return phase === "waiting" && repairs === null;
}

function makeRoomFor(state: State, task: TaskState, leaving: Leaving): void {
  if (isHungry(task)) feedTask(state, task, leaving);
  else if (task.asking === null) advance(state, task, leaving);
  // Unless promises may be broken, the task cannot use room that promises need.
  else if (leaving === "any") makeRoom(state, wholePages(task.asking.bytes), leaving);
  else if (isUrgent(task))
    makeRoom(state, wholePages(task.asking.bytes) + promisedBefore(state, task.operator, task.index), leaving);
}

function changes(state: State, run: () => void): boolean {
  const { ledger, store: disk } = state;
  // Room that this step reserves is not reserved for tasks that could not be served before.
  disk.spokenFor = 0;
  const figures = () => [
    ledger.room,
    ledger.leaving,
    disk.restoring.size,
    state.phases.fetching.size,
    state.phases.failing.length,
  ];
  const before = figures();
  run();
  return figures().some((now, i) => now !== before[i]);
}

/** The least urgent task that keeps something in memory stands back; never the one that everything waits for. */
function letSomebodyStandBack(state: State): boolean {
  if (letSomebodyUnpin(state)) return true;
  const first = state.placement.yieldsTo;
  if (first === null) return false;
  const others = othersThan(state, first);
  // The task needs memory that others read or, if it only has to begin, the worker or the resources of any of them.
  const hasToBegin = waitsInItsOperator(first);
  const next = others.find((task) => task.asking !== null && (hasToBegin || task.input.blocks.length > 0));
  if (next === undefined) return false;
  standBack(state, next);
  return true;
}

/** The same for tasks that have not begun: they lose no work. */
function letSomebodyUnpin(state: State): boolean {
  const { yieldsTo } = state.placement;
  const first = yieldsTo !== null && isUnderWay(yieldsTo) ? yieldsTo : firstWaiting(state);
  if (first === undefined) return false;
  state.placement.yieldsTo = first;
  for (const job of state.jobs.values()) {
    for (const { phases } of job.operators) {
      if (phases.again.some((task) => task !== first && unpinAll(state, task))) return true;
    }
  }
  return othersThan(state, first).some((task) => task.asking === null && unpinAll(state, task));
}

/** Tasks that wait with something in memory, the least urgent first. */
function othersThan(state: State, first: TaskState): readonly TaskState[] {
  const all = [...state.phases.askers]
    .flatMap(({ phases: { asking } }) => [...asking])
    .concat(...state.phases.fetching);
  return all.filter((task) => task !== first).sort((a, b) => byUrgency(b, a));
}

/**
 * Tasks that stood back are run again when the task they made way for is over, or the program has stopped reading its
 * job.
 */
export function endStandingBack(state: State): void {
  const { yieldsTo } = state.placement;
  if (yieldsTo === null) return;
  if (!isUnderWay(yieldsTo) || isPaused(yieldsTo.operator.job)) bringBackAside(state);
}

function bringBackAside(state: State): boolean {
  let any = false;
  state.placement.yieldsTo = null;
  for (const job of state.jobs.values()) {
    for (const { phases } of job.operators) {
      any ||= phases.aside.size > 0;
      for (const task of phases.aside) comesAgain(state, task);
    }
  }
  return any;
}

/**
 * Takes GPUs from an idle instance, of the same job or, if no task computes, of another one, for an operator that waits
 * for them.
 */
function moveDevices(state: State, job: JobState, anybodyActive: boolean): boolean {
  for (const operator of [...job.operators].reverse()) {
    if (operator.needs.gpus === 0 || hasDevices(state, operator) || !isWanted(state, operator, ANYTHING)) continue;
    const idle = idleInstance(anybodyActive ? [job] : state.jobs.values(), operator);
    if (idle === null) continue;
    retireFrom(state, idle.operator, idle.worker);
    return true;
  }
  return false;
}

/**
 * Breaks promises, spills, lets tasks stand back, or gives up; does nothing while the program is about to give
 * something back.
 */
function overruleStore(state: State): boolean {
  if (!isAnybodyWaiting(state)) {
    state.placement.storeStallSince = null;
    return state.placement.yieldsTo !== null && bringBackAside(state);
  }
  if (reclaim(state)) return true;
  const isReading = state.now < readsUntil(state);
  if (!isReading && makeDo(state)) return true;
  const { refusal } = state.store;
  // If the disks may be tried again and no task has tried, they are not what everything waits for.
  if (refusal !== null && state.now < refusal.retryAt) {
    state.placement.storeStallSince = null;
    if (!isReading && letSomebodyUnpin(state)) return true;
    if (state.now - refusal.since < DISK_GRACE || mayCollectSince(state, refusal.since)) return false;
    // The next job waits for the disks anew: they may work by then.
    state.store.refusal = null;
    return giveUp(state, () => refusal.error);
  }
  if (!isReading && letSomebodyStandBack(state)) return true;
  state.placement.storeStallSince ??= state.now;
  if (mayCollectSince(state, state.placement.storeStallSince)) return false;
  if (state.now < storeDeadline(state, state.placement.storeStallSince)) return false;
  state.placement.storeStallSince = null;
  return giveUp(state, (who, bytes) => full(state, who, bytes));
}

function makeDo(state: State): boolean {
  // Room that is only on its way counts as a change, too.
  return changes(state, () => breakPromise(state)) || serve(state, null, "any");
}

function isAnybodyWaiting(state: State): boolean {
  if (state.placement.programAsks.length > 0 || waitingTasks(state).length > 0) return true;
  for (const job of state.jobs.values()) if (job.phase === "running" && awaited(job).length > 0) return true;
  return false;
}

function giveUp(state: State, error: (who: string, bytes: number) => WireError): boolean {
  const { ledger } = state;
  const [youngest] = waitingTasks(state).sort((a, b) => b.operator.job.order - a.operator.job.order);
  if (youngest !== undefined) {
    const bytes = youngest.asking?.bytes ?? bytesToRead(ledger, youngest);
    failJob(state, youngest.operator.job, error(`${youngest.operator.spec.name}: a task`, bytes));
    return true;
  }
  for (const job of state.jobs.values()) {
    const [next] = job.phase === "running" ? awaited(job) : [];
    if (next === undefined) continue;
    failJob(state, job, error("The program", ledger.lengthOf(next)));
    return true;
  }
  const ask = state.placement.programAsks.shift();
  if (ask === undefined) return false;
  tell(state, { type: "refused", request: ask.request, error: error("The program", ask.bytes) });
  return true;
}

function bytesToRead(ledger: State["ledger"], task: TaskState): number {
  for (const { flow } of stillToRead(task)) return flow.block.length;
  return task.input.blocks.reduce((sum, id) => sum + ledger.lengthOf(id), 0);
}

function full(state: State, who: string, bytes: number): WireError {
  const { live, capacity } = state.ledger;
  return toWire(
    new StoreError(
      `${who} needs ${formatSize(bytes)} of the store, and nothing that is there can leave: ${formatSize(live)} of ${formatSize(capacity)} ` +
        "are being read or written. Give the session a larger objectStoreMemory, use smaller blocks (targetMaxBlockSize), " +
        "or fewer at once (workers, prefetch).",
    ),
  );
}
