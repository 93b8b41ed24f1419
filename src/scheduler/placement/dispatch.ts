/**
 * Gives idle workers something to do: questions first (they are tiny, and a plan waits for the answer), then tasks.
 * Jobs take turns, the one with the fewest running tasks first. Within a job the operator furthest downstream goes
 * first, so that memory drains before it fills.
 */

import { isAllInMemory, isRunnable, nextNeeds, nextTask, retireFrom, yields } from "../flow/index.ts";
import { inspectNext } from "../jobs/index.ts";
import {
  addedBy,
  hasMemory,
  isItsTurn,
  isLargeEnough,
  isScarceFor,
  isSomebodyAlone,
  makeWay,
  neededFor,
  raise,
  runsAlone,
  trimForRoom,
} from "../memory/index.ts";
import { isGoingOn, moveTask } from "../phases/index.ts";
import { alone, concurrencyCap, freeResources, memoryPolicies, roomPolicies } from "../policies/index.ts";
import {
  isPaused,
  type JobState,
  nextOrder,
  type OperatorState,
  type State,
  type WorkerState,
} from "../state/index.ts";
import { begin } from "./begin.ts";
import { leastLoaded, loadOf, MOST_COMPARED } from "./placement.ts";
import { startViewOf } from "./start-view.ts";
import { isOnHeadPath, mostAtOnce } from "./view.ts";
import { isHeldUp } from "./wide-turn.ts";

export interface Leniency {
  /** Overrule the policies about room. */
  readonly overBound: boolean;
  /** Accept a bundle smaller than the operator prefers. */
  readonly partial: boolean;
  /** Ignore the cores of tasks that wait for room, as overruling does. */
  readonly overCores?: boolean;
  /** Only operators that everything after them waits for. */
  readonly headOnly?: boolean;
  /** Only operators for which this is true. */
  readonly helps?: (operator: OperatorState) => boolean;
}

/** Most tasks whose input comes from disk at the same time: enough for any disk, and few enough to check each time. */
const MAX_FETCHES = 16;

export const STRICT: Leniency = { overBound: false, partial: false };

export function dispatch(state: State): void {
  readAhead(state);
  forgetNextAlone(state);
  while (
    state.phases.idle.size > 0 &&
    !isSomebodyAlone(state) &&
    (inspectNext(state) || repairNext(state) || startNext(state))
  ) {
    // Until there is no idle worker, or nothing to do.
  }
  if (state.phases.idle.size > 0 && isAnyShortOfMemory(state)) trimForRoom(state);
}

/** A task would start if the node held what it takes. */
function isAnyShortOfMemory(state: State): boolean {
  for (const { operators, phase } of state.jobs.values()) {
    if (phase !== "running") continue;
    for (const operator of operators) {
      if (!isScarceFor(state, operator) || !isRunnable(state, operator, true)) continue;
      if (!hasMemory(state, operator)) return true;
    }
  }
  return false;
}

/**
 * Starts a task that makes a lost block again, if a worker may have it; not for a job that the program has stopped
 * reading.
 */
function repairNext(state: State): boolean {
  const task = state.phases.repairs.find(
    ({ operator }) => mayRepair(operator.job) && idleWorkerFor(state, operator) !== null,
  );
  if (task === undefined || task.operator.spec.kind !== "tasks") return false;
  const worker = idleWorkerFor(state, task.operator);
  if (worker === null) return false;
  if (isAllInMemory(state, task.input.blocks)) begin(state, task, task.operator.spec, worker);
  else moveTask(state, task, "fetching");
  return true;
}

function mayRepair(job: JobState): boolean {
  return isGoingOn(job) && !isPaused(job);
}

/** Forms the tasks whose input has to come from disk, those downstream first: no more than there are workers. */
function readAhead(state: State): void {
  if (state.ledger.isAllInMemory || yields(state, null)) return;
  const most = state.memory.paused.size > 0 ? 1 : Math.min(state.options.workers, MAX_FETCHES);
  for (const job of state.jobs.values()) {
    for (let depth = job.operators.length - 1; depth >= 0; depth--) {
      const operator = job.operators[depth];
      if (operator === undefined) continue;
      while (state.phases.fetching.size < most && mayFetch(state, operator, STRICT)) fetchNext(state, operator);
    }
  }
}

export function mayFetch(state: State, operator: OperatorState, leniency: Leniency): boolean {
  if (state.ledger.isAllInMemory || !isGoingOn(operator.job)) return false;
  if (!isRunnable(state, operator, leniency.partial)) return false;
  return !isAllInMemory(state, nextNeeds(operator)) && mayBegin(state, operator, leniency);
}

export function fetchNext(state: State, operator: OperatorState): void {
  if (operator.spec.kind === "tasks") moveTask(state, nextTask(state, operator, operator.spec), "fetching");
}

function startNext(state: State): boolean {
  const jobs = state.jobs.size === 1 ? state.jobs.values() : [...state.jobs.values()].sort(byTurn);
  state.placement.nextAlone = null;
  for (const job of jobs) {
    if (startOneOf(state, job, STRICT)) return true;
    if (state.placement.nextAlone !== null) return false;
  }
  return false;
}

/**
 * Whether the operator's next task must run alone, and only waits for the tasks that compute now. They end, and no
 * other task starts before it.
 */
function waitsToBeAlone(state: State, operator: OperatorState): boolean {
  return (
    runsAlone(operator) && isGoingOn(operator.job) && !isItsTurn(state, operator) && isWanted(state, operator, STRICT)
  );
}

/**
 * Forgets the operator whose task was next to run alone, if it no longer waits for other tasks to end. Without an idle
 * worker no other operator is looked for, and tasks of other jobs would wait for this one for ever.
 */
function forgetNextAlone(state: State): void {
  const { nextAlone } = state.placement;
  if (nextAlone !== null && !waitsToBeAlone(state, nextAlone)) state.placement.nextAlone = null;
}

function byTurn(a: JobState, b: JobState): number {
  return a.phases.runningTasks - b.phases.runningTasks || a.placement.lastServed - b.placement.lastServed;
}

/**
 * Starts the task furthest downstream that has an idle worker. Operators for which everything after them waits go
 * before operators whose output must wait for another input.
 */
export function startOneOf(state: State, job: JobState, leniency: Leniency): boolean {
  if (!isGoingOn(job)) return false;
  return (
    startFrom(state, job, leniency, true) || (leniency.headOnly !== true && startFrom(state, job, leniency, false))
  );
}

function startFrom(state: State, job: JobState, leniency: Leniency, onHeadPath: boolean): boolean {
  for (let depth = job.operators.length - 1; depth >= 0; depth--) {
    const operator = job.operators[depth];
    if (operator === undefined || leniency.helps?.(operator) === false) continue;
    if (waitsToBeAlone(state, operator)) {
      // Otherwise this task would have to wait for every task that starts before it.
      state.placement.nextAlone ??= operator;
      return false;
    }
    if (!mayStart(state, operator, leniency) || operator.spec.kind !== "tasks") continue;
    if (isOnHeadPath(operator) !== onHeadPath) continue;
    const worker = idleWorkerFor(state, operator);
    if (worker === null) {
      if (operator.isClass && isSpread(operator)) leaveSmallWorkers(state, operator);
      else raise(state, operator);
      continue;
    }
    job.placement.lastServed = nextOrder(state);
    makeWay(state, operator, worker);
    begin(state, nextTask(state, operator, operator.spec), operator.spec, worker);
    return true;
  }
  return false;
}

/**
 * The operator's instances are in workers with too little memory for its tasks: they are constructed again elsewhere.
 */
function leaveSmallWorkers(state: State, operator: OperatorState): void {
  for (const worker of [...operator.phases.idle]) {
    if (!isLargeEnough(state, worker, operator)) retireFrom(state, operator, worker);
  }
}

/** The operator's next task lacks only a worker; its input is there. */
export function mayStart(state: State, operator: OperatorState, leniency: Leniency): boolean {
  const waiting = leniency.overBound || leniency.overCores === true ? "overlook" : "count";
  const view = startViewOf(state, operator, waiting);
  return (
    alone.mayStart(view) &&
    isWanted(state, operator, leniency) &&
    freeResources.mayStart(view) &&
    (leniency.overBound || memoryPolicies.every((policy) => policy.mayStart(view)))
  );
}

/** The operator's next task would run if other tasks did not have the workers or the resources. */
export function waitsForOthers(state: State, operator: OperatorState): boolean {
  if (isHeldUp(state, operator)) return true;
  if (!isWanted(state, operator, STRICT)) return false;
  const view = startViewOf(state, operator);
  if (state.phases.idle.size === 0 || !freeResources.mayStart(view) || !alone.mayStart(view)) return true;
  return memoryPolicies.some((policy) => !policy.mayStart(view));
}

/** There is input for the operator's next task, and only what other tasks have keeps it from starting. */
export function isWanted(state: State, operator: OperatorState, leniency: Leniency): boolean {
  return (
    isRunnable(state, operator, leniency.partial) &&
    mayBegin(state, operator, leniency) &&
    (state.ledger.isAllInMemory || isAllInMemory(state, nextNeeds(operator)))
  );
}

function mayBegin(state: State, operator: OperatorState, leniency: Leniency): boolean {
  const view = startViewOf(state, operator);
  if (!concurrencyCap.mayStart(view)) return false;
  return leniency.overBound || roomPolicies.every((policy) => policy.mayStart(view));
}

/**
 * Prefers a worker with an instance of the class, then one that has the operator already; of several, the one with the
 * least memory. A class never gets more instances than it may have.
 */
function idleWorkerFor(state: State, operator: OperatorState): WorkerState | null {
  if (isScarceFor(state, operator)) return leastGrowing(state, operator);
  const maker = state.options.localityWithOutput ? makerOfInput(operator) : null;
  if (maker !== null && state.phases.idle.has(maker) && mayHave(state, operator, maker)) return maker;
  const known = leastLoaded(state, operator);
  if (known !== null) return known;
  if (operator.isClass && isSpread(operator)) return null;
  const needsRaised = neededFor(state, operator) > state.memory.workerMemory;
  let best: WorkerState | null = null;
  let compared = 0;
  for (const worker of needsRaised ? state.memory.raised : state.phases.idle) {
    if (!state.phases.idle.has(worker) || !mayHave(state, operator, worker)) continue;
    if (best === null || isBetter(state, worker, best)) best = worker;
    if (worker.memory.limit > state.memory.workerMemory) continue;
    compared += 1;
    if (state.options.memory === null || compared === MOST_COMPARED) break;
  }
  return best;
}

/** Where memory is scarce: the worker that grows the least, because of what the operator has left in it. */
function leastGrowing(state: State, operator: OperatorState): WorkerState | null {
  let best: WorkerState | null = null;
  for (const worker of state.phases.idle) {
    if (!mayHave(state, operator, worker)) continue;
    if (best === null || addedBy(state, worker, operator) < addedBy(state, best, operator)) best = worker;
  }
  return best;
}

/** A raised worker is left to the operators that need it. */
function isBetter(state: State, worker: WorkerState, other: WorkerState): boolean {
  const limit = Math.max(worker.memory.limit, state.memory.workerMemory);
  const otherLimit = Math.max(other.memory.limit, state.memory.workerMemory);
  return limit < otherLimit || (limit === otherLimit && loadOf(state, worker) < loadOf(state, other));
}

/** The operator may run in the worker. */
function mayHave(state: State, operator: OperatorState, worker: WorkerState): boolean {
  if (operator.phases.workers.has(worker)) return isLargeEnough(state, worker, operator);
  // The worker is still disposing its earlier instance of the operator.
  if (operator.phases.retiring.has(worker) || (operator.isClass && isSpread(operator))) return false;
  return (
    isLargeEnough(state, worker, operator) &&
    (operator.needs.gpus === 0 || state.resources.devices.canTake(operator.needs.gpus))
  );
}

/** The worker that made the first block that the operator's next task reads. */
function makerOfInput({ phases: { again }, input: { ready } }: OperatorState): WorkerState | null {
  const piece = again.length > 0 ? again[0]?.input.pieces[0] : ready.peek();
  return piece?.flow.maker ?? null;
}

/** A class operator that may have no instance in yet another worker. */
export function isSpread(operator: OperatorState): boolean {
  const { spec } = operator;
  const { workers, retiring } = operator.phases;
  return spec.kind === "tasks" && workers.size + retiring.size >= mostAtOnce(operator);
}
