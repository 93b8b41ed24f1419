/**
 * How many worker processes there are to be, and when the next may start. The supervisor starts what it is told to, and
 * says what became of it.
 *
 *   missing ──▶ ordered ──▶ starting ──connected──▶ works ──ended──▶ missing: replaced at once;
 *                              │                                     after a death for memory: later (restarts.ts)
 *                              ├──not connected after 60 s: it is ended
 *                              └──ended: no process starts for 100 ms, then 200 ms, … 5 s; after five in a row jobs
 *                                 fail until a worker connects
 */
import { isMemoryReason, type WireError } from "../../errors/index.ts";
import type { Bytes, Milliseconds } from "../../protocol/index.ts";
import type { State, WorkerEnd, WorkerState } from "../state/index.ts";
import { diedForMemory, hasGivenUp, heldBack, restartDeadline } from "./restarts.ts";

/** The other workers do not wait longer than this for the first one. */
const OTHERS_LATEST: Milliseconds = 500;
const FIRST_PAUSE: Milliseconds = 100;
const LONGEST_PAUSE: Milliseconds = 5_000;
/** After this many workers in a row that ended before they connected, workers cannot be started. */
export const START_FAILURES = 5;
/** Loading the kernel takes 0.2 s, on a busy machine ten times that. A worker that needs a minute hangs. */
const START_TIMEOUT: Milliseconds = 60_000;

/**
 * The session is open: the first worker starts at once, the others when it has connected. If all loaded the kernel
 * together, the first row of a small job would wait for all of them.
 */
export function openStarts({ starts, now }: State): void {
  starts.allFrom = now + OTHERS_LATEST;
}

/** Workers have died at their start: no process starts before the pause is over. */
export function areStartsPaused({ starts, now }: State): boolean {
  return now < starts.pausedUntil;
}

/** Workers are missing that may not start now. */
export function areWorkersHeldBack(state: State): boolean {
  return (heldBack(state) > 0 || areStartsPaused(state)) && presentWorkers(state) < wantedWorkers(state);
}

/** Orders one more worker. `memory`: its limit, if it is not the session's. */
export function orderWorker({ starts, commands }: State, memory: Bytes | null): void {
  starts.ordered += 1;
  commands.push({ type: "spawn", memory });
}

/** Orders a worker with this memory limit in the place of an idle one. */
export function orderReplacement({ starts, commands }: State, { id }: WorkerState, memory: Bytes): void {
  starts.ordered += 1;
  commands.push({ type: "replace", worker: id, memory });
}

/** An ordered worker has begun to start. */
export function workerBegins({ starts }: State): void {
  starts.ordered = Math.max(0, starts.ordered - 1);
}

export function workerConnected({ starts, now }: State): void {
  starts.failures = 0;
  starts.error = null;
  if (starts.allFrom !== null) starts.allFrom = Math.min(starts.allFrom, now);
}

/** A worker's process has ended. True: too many in a row have ended before they had connected. */
export function workerEnded(state: State, worker: WorkerState, end: WorkerEnd): boolean {
  if (!hasConnected(worker)) return startFailed(state);
  // The wide kernel is started again when it is needed.
  if (worker !== state.phases.wide && isMemoryReason(end.cause)) diedForMemory(state, worker.birth, end);
  return false;
}

function startFailed(state: State): boolean {
  const { starts, now } = state;
  starts.failures += 1;
  // Workers that were started together have one pause.
  if (!areStartsPaused(state)) {
    starts.pausedUntil = now + Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (starts.failures - 1));
  }
  return starts.failures === START_FAILURES;
}

/** Whether the worker has connected: only then its process id is known. */
function hasConnected({ pid }: WorkerState): boolean {
  return pid !== 0;
}

/** Workers that have not connected in time. */
export function hangingStarts({ phases: { starting }, now }: State): readonly WorkerState[] {
  const hanging: WorkerState[] = [];
  for (const worker of starting) {
    // Workers that began later are behind it.
    if (now < connectsBefore(worker)) break;
    hanging.push(worker);
  }
  return hanging;
}

function connectsBefore({ birth }: WorkerState): Milliseconds {
  return birth.at + START_TIMEOUT;
}

/** Orders the workers that are missing. */
export function replenish(state: State): void {
  if (areStartsPaused(state)) return;
  for (let missing = dueWorkers(state) - presentWorkers(state); missing > 0; missing--) orderWorker(state, null);
}

/** How many workers the session is to have at this moment. */
function wantedWorkers(state: State): number {
  const { parkedFor } = state.memory;
  if (parkedFor.has("kernel")) return 0;
  return parkedFor.has("task") ? 1 : workersInForce(state);
}

/** The session's number of workers, or fewer while it has less of the node. */
export function workersInForce({ memory: { share }, options }: State): number {
  return Math.min(options.workers, share.inForce.workers);
}

/** How many workers are due. Workers that are held back are the first to be left out when fewer are wanted. */
function dueWorkers(state: State): number {
  const { starts, options, now } = state;
  if (starts.allFrom === null) return 0;
  const most = now < starts.allFrom ? 1 : wantedWorkers(state);
  return Math.min(most, options.workers - heldBack(state));
}

/** No worker is there or will be started by itself, though one is wanted. */
export function isNoneLeft(state: State): boolean {
  return hasGivenUp(state) && wantedWorkers(state) > 0 && presentWorkers(state) === 0 && dueWorkers(state) <= 0;
}

/** Jobs fail with this error until a worker connects. */
export function giveUpStarting({ starts }: State, error: WireError): void {
  starts.error = error;
}

/** The user is told once that no worker is left. */
export function toldOfNoneLeft({ starts }: State): void {
  starts.restarts.isTold = true;
}

/** Includes workers that are about to start or to end. */
export function presentWorkers({ workers, starts }: State): number {
  return workers.size + starts.ordered;
}

/** All wanted workers have connected, except those that wait until a pause is over. */
export function isComplete(state: State): boolean {
  const { starts, workers } = state;
  if (starts.ordered > 0) return false;
  let connected = 0;
  for (const { phase } of workers.values()) {
    if (phase === "starting") return false;
    if (phase !== "stopping") connected += 1;
  }
  return areStartsPaused(state) || connected >= dueWorkers(state);
}

/** When the next worker may start, or a starting one must have connected. */
export function startDeadline(state: State): Milliseconds {
  const { starts, phases, now } = state;
  const { pausedUntil, allFrom } = starts;
  const [eldest] = phases.starting;
  return Math.min(
    eldest === undefined ? Number.POSITIVE_INFINITY : connectsBefore(eldest),
    pausedUntil > now ? pausedUntil : Number.POSITIVE_INFINITY,
    allFrom !== null && allFrom > now ? allFrom : Number.POSITIVE_INFINITY,
    restartDeadline(state),
  );
}
