/**
 * The one pool of memory, as far as the wide kernel shares in it. While it has a task it is lent what the store does not
 * need to hold (blocks that do not flow go to disk for it) and, once nothing else is left to do, what idle workers have:
 * these processes end, and come back when there is work for them. How much its kernel may then use follows from the
 * lease: buffers are not all that a process has.
 */

import { kernelLease, type MemoryPool, squeezed } from "../../memory/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import { isRunnable } from "../flow/index.ts";
import { inputEnded, isWide, type State, send, type TaskState, type WorkerState } from "../state/index.ts";
import { makeRoom } from "../store/index.ts";
import { dismiss, tellWanted, withoutTask } from "./workers.ts";

/** What the wide kernel has at this moment. */
export interface LeaseState {
  readonly pool: MemoryPool;
  /** Null: nothing was said to the kernel yet. */
  told: Bytes | null;
  /** Workers have ended for its sake. */
  isParked: boolean;
  /** The store needs what it has lent, and lends no more: while the task is fed, or for as long as it runs. */
  reclaimed: "no" | "feeding" | "for good";
}

/** Of the pool, while functions run beside it, and when it is alone. */
const SHARE_BESIDE = 0.5;
const SHARE_ALONE = 0.8;
const SHARE_AT_LAST = 0.95;
/** With so much it takes nothing from others: processes that end and pages that are given back cost time to have again. */
const PLENTY: Bytes = 8 * 2 ** 30;
const MOST_RELIEF = 2;
/** Of the store, for blocks on their way to and from the kernel are needed: a quarter, and a half while producers run. */
const MOST_LENT_BESIDE = 0.5;
const MOST_LENT_ALONE = 0.75;
const STEP = 1 / 16;
/** Smaller changes are not worth a word to the kernel. */
const NOTABLE = 0.1;

/** Looked at with every event: what is lent, and to whom. */
export function settleLease(state: State): void {
  const { lease, wide } = state;
  if (lease === null) return;
  const task = wide.worker?.task ?? null;
  if (task !== null) tellLease(state, task);
  // A task that is about to run again will need all that it had.
  else if (!isOneToComeAgain(state)) {
    lease.told = null;
    unpark(state);
    lease.reclaimed = "no";
    lend(state, 0);
  }
}

/** A wide task ran out of memory, or was killed, and has not come again yet. */
function isOneToComeAgain({ jobs }: State): boolean {
  const hasLacked = ({ relief, kills }: TaskState) => relief + kills > 0;
  for (const { operators } of jobs.values()) {
    for (const operator of operators) {
      if (!isWide(operator)) continue;
      if ([...operator.again, ...operator.aside, ...operator.resting].some(hasLacked)) return true;
    }
  }
  return false;
}

/** The kernel is about to have the task: what it was told for the one before means nothing to it. */
export function beginLease(state: State, task: TaskState): void {
  if (state.lease !== null) state.lease.told = null;
  tellLease(state, task);
}

/** What the wide kernel may have for the task. */
function tellLease(state: State, { operator, relief, kills }: TaskState): void {
  const { lease, ledger, wide } = state;
  if (lease === null || wide.worker === null) return;
  const { pool } = lease;
  const isAlone = inputEnded(operator) && isQuiet(state);
  const share = isAlone ? SHARE_ALONE : SHARE_BESIDE;
  const wanted = relief < MOST_RELIEF ? Math.min(PLENTY, pool.memory * share) : pool.memory * SHARE_AT_LAST;
  const rest = pool.memory - pool.overhead - ledger.capacity;
  if (!isAlone) unpark(state);
  else if (rest - state.workers.size * pool.worker < wanted) park(state);
  // Those that are about to end have nothing to do with it any more.
  const workers = lease.isParked ? 0 : state.workers.size;
  const free = rest - workers * pool.worker;
  const mostLent = !isAlone ? MOST_LENT_BESIDE : relief < MOST_RELIEF ? MOST_LENT_ALONE : 1;
  const most = Math.min(ledger.capacity * mostLent, ledger.capacity - 2 * largestBlock(state));
  if (lease.reclaimed === "feeding" && isFed(wide.worker.task)) lease.reclaimed = "no";
  if (lease.reclaimed === "no") lend(state, Math.min(most, wanted - free));
  const process = isAlone ? free + ledger.lent : Math.min(pool.memory * share, free + ledger.lent);
  if (lease.told !== null && Math.abs(process - lease.told) < lease.told * NOTABLE) return;
  lease.told = process;
  const own = kernelLease(process, relief > 0 ? 1 : pool.threads, relief === MOST_RELIEF);
  send(state, wide.worker, { type: "lease", lease: kills === 0 ? own : squeezed(own, kills) });
}

/** That an operator which has not ended is asked to make: two must fit, or what is lent would have to come back at once. */
function largestBlock({ jobs }: State): Bytes {
  let bytes = 0;
  for (const { operators } of jobs.values()) {
    for (const { spec, ended } of operators) {
      if (!ended && spec.kind === "tasks" && spec.sink.kind === "blocks")
        bytes = Math.max(bytes, spec.sink.targetBytes);
    }
  }
  return bytes;
}

/** Nothing can go on for want of room: what is lent comes back. True where that is more than nothing. */
export function reclaim({ lease, ledger, wide }: State): boolean {
  if (lease === null || ledger.lent === 0) return false;
  lease.reclaimed = isFed(wide.worker?.task ?? null) ? "for good" : "feeding";
  ledger.lend(0);
  return true;
}

/** All of its input is in the kernel. */
function isFed(task: TaskState | null): boolean {
  const feed = task?.feed ?? null;
  return feed?.ended === true && feed.inFlight.length === 0;
}

/** The kernel ran out of memory. True where its task can be run again with more of it for each thread. */
export function relieve({ lease, wide }: State, task: TaskState, worker: WorkerState): boolean {
  if (lease === null || worker !== wide.worker || task.relief >= MOST_RELIEF) return false;
  task.relief += 1;
  // One thread already: it is more memory that is missing.
  if (lease.told !== null && kernelLease(lease.told, lease.pool.threads).threads === 1) task.relief = MOST_RELIEF;
  return true;
}

/** As much as there is room for, and more, a step at a time, when blocks that do not flow have gone to disk. */
function lend(state: State, bytes: Bytes): void {
  const { ledger } = state;
  const wanted = Math.max(0, bytes);
  if (wanted > ledger.lent) makeRoom(state, Math.min(wanted - ledger.lent, ledger.capacity * STEP), "cold");
  const punch = ledger.lend(Math.min(wanted, ledger.lent + Math.max(0, ledger.room)));
  if (punch.length > 0) state.commands.push({ type: "punch", ranges: punch });
}

/** No worker has anything to do, and nothing waits for one. */
function isQuiet(state: State): boolean {
  if (state.inspections.length + state.repairs.length > 0) return false;
  for (const { phase } of state.workers.values()) {
    if (phase === "busy" || phase === "inspecting" || (phase === "starting" && !state.lease?.isParked)) return false;
  }
  if (state.fetching.size > 0 || state.programAsks.length > 0) return false;
  for (const job of state.jobs.values()) {
    if (job.phase === "running" && job.operators.some((operator) => isRunnable(state, operator, true))) return false;
  }
  return true;
}

function park(state: State): void {
  if (state.lease === null) return;
  const isNew = !state.lease.isParked;
  state.lease.isParked = true;
  if (isNew) tellWanted(state);
  // Also those that were only starting.
  for (const worker of withoutTask(state)) dismiss(state, worker);
}

function unpark(state: State): void {
  if (state.lease === null || !state.lease.isParked) return;
  state.lease.isParked = false;
  tellWanted(state);
}
