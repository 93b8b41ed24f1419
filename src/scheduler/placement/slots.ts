/**
 * Finds workers for tasks when all workers are taken by tasks that only wait, for room or for input. An instance moves
 * to another worker, one more worker is started, or, if there can be no more, a waiting task gives its worker up. This
 * happens soon if no task computes at all. If tasks of other jobs compute, a job that stands still first waits a little
 * for one of their workers, which may never become free. Then it gets an extra worker, as long as fewer tasks compute
 * than the session is to have workers. So no more tasks compute than usual, and no task's work is lost.
 */

import type { Milliseconds } from "../../protocol/index.ts";
import { isStarving, retireFrom, standBack } from "../flow/index.ts";
import { raisedFor } from "../memory/index.ts";
import { areStartsPaused, comingWorkers, orderWorker, presentWorkers, workersInForce } from "../starts/index.ts";
import type { JobState, OperatorState, State, TaskState, WorkerState } from "../state/index.ts";
import { BESIDE_GRACE, isPaused, isWide, SLOT_GRACE } from "../state/index.ts";
import { isSpread, isWanted, type Leniency, mayStart, STRICT, startOneOf } from "./dispatch.ts";
import { byUrgency, isOnHeadPath, isUrgent } from "./view.ts";

/** Each level of a pipeline, and each job inside a job, can need one more worker; needing many means a loop. */
const MAX_EXTRA_WORKERS = 8;

export const ANYTHING: Leniency = { overBound: true, partial: true };

/** A task that has computed for this long may never end: an instance does not wait for its worker. */
const LONG: Milliseconds = 10_000;

/** Something could run if it had a worker. "coming": a worker is on its way. */
export function findWorker(state: State): "changed" | "coming" | "none" {
  const waiting = [...state.jobs.values()].flatMap((job) => (isPaused(job) ? [] : startable(state, job)));
  if (waiting.some((operator) => moveInstance(state, operator, 0))) return "changed";
  if ((!waiting.some(mayHaveAnother) && state.phases.inspections.length === 0) || state.workers.size === 0) {
    state.placement.slotStallSince = null;
    return "none";
  }
  if (areAllStarted(state)) {
    state.placement.slotStallSince = null;
    return takeWorkerFromPaused(state) ? "changed" : "none";
  }
  state.placement.slotStallSince ??= state.now;
  if (state.now - state.placement.slotStallSince >= SLOT_GRACE && !areStartsPaused(state)) {
    state.placement.slotStallSince = null;
    orderWorker(state, raisedFor(state, waiting));
  }
  return "coming";
}

/** The same for a job that stands still while other jobs work. True if it changed something. */
export function findWorkerBeside(state: State, job: JobState): boolean {
  const waiting = startable(state, job);
  if (waiting.length === 0) {
    job.placement.waitsSince = null;
    return false;
  }
  // The cores of waiting tasks are in fact free.
  const lenient = { headOnly: true, helps: helpful(state, job), overCores: true };
  if (startOneOf(state, job, { ...STRICT, ...lenient })) return true;
  job.placement.waitsSince ??= state.now;
  if (!isOverdue(state, job)) return false;
  // The task for which a worker is started begins in it.
  if (startOneOf(state, job, { ...lenient, ...ANYTHING })) return true;
  if (waiting.some((operator) => moveInstance(state, operator, LONG))) return true;
  if (!waiting.some(mayHaveAnother) || !isAnyHeld(state)) return false;
  if (!isNextDue(state) || areStartsPaused(state)) return false;
  if (areAllStarted(state)) {
    if (!takeWorkerFromPaused(state)) return false;
    state.placement.stillJobServedAt = state.now;
    return true;
  }
  state.placement.stillJobServedAt = state.now;
  orderWorker(state, raisedFor(state, waiting));
  return false;
}

/** The job has waited long enough, and only a waiting task can give it a worker. */
export function isPastHelp(state: State, job: JobState): boolean {
  return isOverdue(state, job) && areAllStarted(state) && isAnyHeld(state);
}

/**
 * A task that has waited for room gives its worker up, and is run again later. The task belongs to the same job, if the
 * other task starts before it, or to another job with more workers, because jobs take turns. So the worker goes to
 * another task.
 */
export function giveWorkerUp(state: State, job: JobState): boolean {
  if (!isNextDue(state)) return false;
  const waiting = startable(state, job).filter((operator) => isWanted(state, operator, STRICT));
  const [own, others] = [true, false].map((isOwn) =>
    heldTasks(state).filter(({ operator }) => (operator.job === job) === isOwn),
  );
  for (const task of [own, others].flatMap((tasks = []) => tasks.sort((a, b) => byUrgency(b, a)))) {
    const { operator } = task;
    const { claimed } = task.resources;
    const left = state.resources.used.subtract(claimed);
    const isNext = (one: OperatorState) =>
      one.needs.request.fitsBeside(left, state.resources.total) &&
      (one.job === operator.job ? startsBefore(one, operator) : goesBefore(one.job, operator.job));
    if (task.repairs !== null || !waiting.some(isNext)) continue;
    state.placement.stillJobServedAt = state.now;
    standBack(state, task);
    return true;
  }
  return false;
}

/** As dispatch.ts orders them, if the first one is on the head path. */
function startsBefore(operator: OperatorState, other: OperatorState): boolean {
  return operator.depth > other.depth || !isOnHeadPath(other);
}

/** As dispatch.ts orders them, once the other job has one task fewer. */
function goesBefore(job: JobState, other: JobState): boolean {
  const more = other.phases.runningTasks - 1 - job.phases.runningTasks;
  return more > 0 || (more === 0 && job.placement.lastServed < other.placement.lastServed);
}

/** When to check again; anything overdue waits for the next event. */
export function slotDeadline(state: State): Milliseconds {
  const deadlines: Milliseconds[] = [];
  for (const { placement, operators } of state.jobs.values()) {
    if (placement.waitsSince === null) continue;
    deadlines.push(placement.waitsSince + BESIDE_GRACE);
    for (const { phases } of operators.filter(isTied)) {
      for (const { task } of phases.workers) if (task !== null) deadlines.push(task.run.startedAt + LONG);
    }
  }
  if (deadlines.length === 0) return Number.POSITIVE_INFINITY;
  deadlines.push(state.placement.stillJobServedAt + BESIDE_GRACE);
  for (const { asking } of asksInWorkers(state)) if (asking !== null) deadlines.push(asking.since + BESIDE_GRACE);
  return Math.min(...deadlines.filter((at) => at > state.now));
}

function isOverdue(state: State, { placement: { waitsSince } }: JobState): boolean {
  return waitsSince !== null && state.now >= waitsSince + BESIDE_GRACE;
}

/** Start one worker at a time: the previous one may be enough. */
function isNextDue(state: State): boolean {
  return state.now >= state.placement.stillJobServedAt + BESIDE_GRACE;
}

/** Includes workers that are about to start. */
function areAllStarted(state: State): boolean {
  const { workers, extraWorkers } = state.options;
  const inForce = workersInForce(state);
  // While the session has less of the node than it was planned with, there is no memory for extra workers.
  const most = inForce + (inForce < workers ? 0 : Math.min(MAX_EXTRA_WORKERS, extraWorkers));
  return presentWorkers(state) + comingWorkers(state) >= most;
}

/** Whether so many tasks wait in their workers that fewer tasks compute than the session should have workers. */
function isAnyHeld(state: State): boolean {
  const { workers } = state;
  const slots = workersInForce(state);
  const { paused } = state.memory;
  // A paused worker falls below its threshold or is replaced, unless that was tried without success.
  for (const { recycling } of paused) if (recycling.trimming?.isVain !== true) return false;
  return workers.size >= slots && workers.size - heldTasks(state).length < slots;
}

/** Tasks that have waited for room in their workers for more than a moment. */
function heldTasks(state: State): TaskState[] {
  return asksInWorkers(state).filter(({ asking }) => asking !== null && state.now >= asking.since + BESIDE_GRACE);
}

function asksInWorkers(state: State): TaskState[] {
  return [...state.phases.askers].flatMap((operator) => (isWide(operator) ? [] : [...operator.phases.asking]));
}

function isWaiting({ task }: WorkerState): boolean {
  return task !== null && (task.asking !== null || isStarving(task));
}

/** There can be no more workers: a waiting task of a job that the program has stopped reading gives its worker up. */
function takeWorkerFromPaused(state: State): boolean {
  for (const { job, phases } of state.phases.askers) {
    if (!isPaused(job)) continue;
    for (const task of phases.asking) {
      if (task.cancel.at !== null) continue;
      standBack(state, task);
      return true;
    }
  }
  return false;
}

function startable(state: State, job: JobState): OperatorState[] {
  if (job.phase !== "running") return [];
  const helps = helpful(state, job);
  return job.operators.filter((one) => helps(one) && isOnHeadPath(one) && mayStart(state, one, ANYTHING));
}

/** If the task that all wait for waits for room itself, only consumers downstream of it can make room. */
export function helpful(state: State, job: JobState): (operator: OperatorState) => boolean {
  let depth = -1;
  for (const { operator } of asksOf(state, job).filter(isUrgent)) depth = Math.max(depth, operator.depth);
  return (operator) => depth < 0 || (operator.depth > depth && operator.edges.inputs.length > 0);
}

/** Operators of one job, or of all jobs that the program reads; the most urgent first. */
export function asksOf(state: State, only: JobState | null): TaskState[] {
  const asks: TaskState[] = [];
  for (const { job, phases } of state.phases.askers) {
    if (only === null ? !isPaused(job) : job === only) asks.push(...phases.asking);
  }
  return asks.sort(byUrgency);
}

/** The operator's class has all the instances that it may have. */
function isTied(operator: OperatorState): boolean {
  return operator.isClass && isSpread(operator);
}

function mayHaveAnother(operator: OperatorState): boolean {
  return !isTied(operator);
}

/**
 * All workers with the class's instances wait with other tasks, or have computed for long: dispose one instance, so
 * that it can be constructed elsewhere.
 */
function moveInstance(state: State, operator: OperatorState, patience: Milliseconds): boolean {
  if (!isTied(operator)) return false;
  for (const worker of operator.phases.workers) {
    const { task, phase } = worker;
    if (phase !== "busy" || task === null || task.operator === operator) continue;
    if (!isWaiting(worker) && state.now < task.run.startedAt + patience) continue;
    retireFrom(state, operator, worker);
    return true;
  }
  return false;
}
