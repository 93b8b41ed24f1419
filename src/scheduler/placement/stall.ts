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
 *   no worker computes, no disk writes or reads (from step 4 on: full-store.ts):
 *     3. all workers have waiting tasks: an instance moves to another worker, one more worker is started, or, if there
 *        can be no more, a task of a job that the program has stopped reading gives its worker up;
 *     4. the wide kernel gives back what the store has lent it (lease.ts); a promise is broken (see room.ts);
 *     5. blocks that nobody reads go to disk, for the task that everything waits for; after that, the store gets back
 *        what is withheld from it (share.ts);
 *     6. a task stands back (standing-back.ts): its input may go to disk as well, and it is run again later;
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

import type { Milliseconds } from "../../protocol/index.ts";
import { wholePages } from "../../store/index.ts";
import { isStarving, retireFrom } from "../flow/index.ts";
import { hasDevices, idleInstance } from "../resources/index.ts";
import { isPaused, type JobState, SLOT_GRACE, type State } from "../state/index.ts";
import { makeRoom } from "../store/index.ts";
import { fetchNext, isWanted, type Leniency, mayFetch, startOneOf, waitsForOthers } from "./dispatch.ts";
import { changes, serve } from "./first-waiting.ts";
import { overruleStore, storeDeadline } from "./full-store.ts";
import { grantTask } from "./room.ts";
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
import { isOnHeadPath, isUrgent } from "./view.ts";

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

/** The time for which others wait for the program to release blocks begins again. */
export function programIsActive({ placement }: State): void {
  placement.storeStallSince = null;
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
