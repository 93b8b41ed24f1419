/**
 * The wide kernel's lease of the session's memory. While it has a task, it is lent what the store does not need; blocks
 * that do not flow go to disk for it. Once nothing else is left to do, it also gets the memory of idle workers: these
 * processes end, and come back when there is work for them. The kernel's buffers get a part of the lease, because a
 * process has more than its buffers.
 */

import {
  leaseBeside,
  leaseFor,
  type MemoryPool,
  mayHaveAll,
  nextAttempt,
  PROCESS,
  type WideAttempt,
  type WideEnd,
} from "../../memory/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import { isRunnable } from "../flow/index.ts";
import { inputEnded, isWide, type State, send, type TaskState, type WorkerState } from "../state/index.ts";
import { makeRoom } from "../store/index.ts";
import { isParkedFor, park, unpark } from "./parking.ts";

/** Shares of the pool: while functions run beside the kernel, and when it is alone. */
const SHARE_BESIDE = 0.5;
const SHARE_ALONE = 0.8;
const SHARE_AT_LAST = 0.95;
/** A kernel with this much takes nothing from others: starting processes and getting pages again costs time. */
const PLENTY: Bytes = 8 * 2 ** 30;
/**
 * Shares of the store that may be lent. Blocks on their way to and from the kernel need the rest: a quarter, and a half
 * while producers run.
 */
const MOST_LENT_BESIDE = 0.5;
const MOST_LENT_ALONE = 0.75;
const STEP = 1 / 16;
/** A task over at most this many bytes of blocks succeeds with the free memory, so no worker ends for it. */
const LITTLE: Bytes = 2 ** 20;
/** The least of so many readings counts: buffers and process are not measured at the same moment. */
const READINGS = 3;
/** Smaller changes are not worth a message to the kernel. */
const NOTABLE = 0.1;

/** Called with every event: works out what is lent. */
export function settleLease(state: State): void {
  const { lease } = state.memory;
  const { wide } = state.phases;
  if (lease === null) return;
  const task = wide?.task ?? null;
  if (task !== null) tellLease(state, task);
  // A task that is about to run again will need all the memory that it had.
  else if (!isOneToComeAgain(state)) {
    lease.told = null;
    unpark(state, "kernel");
    lease.reclaimed = "no";
    lend(state, 0);
  }
}

/** A wide task ran out of memory, or was killed, and has not started again yet. */
function isOneToComeAgain({ jobs }: State): boolean {
  const hasLacked = ({ oom: { wide } }: TaskState) => wide.kind !== "first";
  for (const { operators } of jobs.values()) {
    for (const operator of operators) {
      if (!isWide(operator)) continue;
      if ([...operator.phases.again, ...operator.phases.aside, ...operator.phases.resting].some(hasLacked)) return true;
    }
  }
  return false;
}

/** The kernel is about to get the task: the lease of its previous task no longer applies. */
export function beginLease(state: State, task: TaskState): void {
  const { lease } = state.memory;
  if (lease !== null) {
    lease.told = null;
    lease.buffers = null;
    lease.held.buffers = 0;
    lease.held.beside = [];
  }
  tellLease(state, task);
}

/** What the wide kernel may have for the task. */
function tellLease(state: State, task: TaskState): void {
  const { operator, oom } = task;
  const hasAll = mayHaveAll(oom.wide);
  const { ledger } = state;
  const { lease } = state.memory;
  const { wide } = state.phases;
  if (lease === null || wide === null) return;
  const { pool } = lease;
  const memory = memoryInForce(state, pool);
  const isAlone = inputEnded(operator) && isQuiet(state);
  const share = isAlone ? SHARE_ALONE : SHARE_BESIDE;
  const wanted = hasAll ? memory * SHARE_AT_LAST : Math.min(PLENTY, memory * share);
  const rest = memory - pool.overhead - ledger.inForce;
  if (!isAlone || isOfLittle(task)) unpark(state, "kernel");
  else if (rest - state.workers.size * pool.worker < wanted) park(state, "kernel", null);
  // Tasks that are about to end no longer count.
  const workers = isParkedFor(state, "kernel") ? 0 : state.workers.size;
  const free = rest - workers * pool.worker;
  const mostLent = !isAlone ? MOST_LENT_BESIDE : hasAll ? 1 : MOST_LENT_ALONE;
  const most = Math.min(ledger.inForce * mostLent, ledger.inForce - 2 * largestBlock(state));
  if (lease.reclaimed === "feeding" && isFed(wide.task)) lease.reclaimed = "no";
  if (lease.reclaimed === "no") lend(state, Math.min(most, wanted - free));
  const process = isAlone ? free + ledger.lent : Math.min(memory * share, free + ledger.lent);
  const own = leaseFor(oom.wide, process, pool.threads);
  const beside = lease.held.beside.length < READINGS ? 0 : Math.min(...lease.held.beside);
  const next = leaseBeside(own, process, beside);
  const isSame = lease.told !== null && Math.abs(process - lease.told) < lease.told * NOTABLE;
  if (isSame && !differs(next.memory, lease.buffers)) return;
  lease.told = process;
  lease.buffers = next.memory;
  send(state, wide, { type: "lease", lease: next });
}

function differs(one: Bytes | null, other: Bytes | null): boolean {
  return one === null || other === null ? one !== other : Math.abs(one - other) >= other * NOTABLE;
}

/** The wide kernel's memory was measured: what its process has beside buffers is not left for buffers. */
export function kernelMeasured({ memory: { lease }, phases: { wide } }: State): void {
  if (lease === null || wide === null || wide.task === null) return;
  const { held } = lease;
  const { reading, kernelBytes } = wide.memory;
  if (reading === null) return;
  held.buffers = Math.max(held.buffers, kernelBytes);
  held.beside = [Math.max(0, reading.private - PROCESS - held.buffers), ...held.beside].slice(0, READINGS);
}

/** What the session may use at this moment, of the memory that it was planned with. */
function memoryInForce({ memory: { share } }: State, pool: MemoryPool): Bytes {
  return Math.min(pool.memory, Math.max(0, share.inForce.memory));
}

/**
 * Judged by the rows fed so far. If few rows become very many, the task runs out of memory and is run again with all
 * the memory.
 */
function isOfLittle({ operator: { spec }, input: { feed }, oom }: TaskState): boolean {
  if (oom.wide.kind !== "first" || spec.kind !== "tasks" || spec.input.kind !== "fed") return false;
  const { tables, reads } = spec.input;
  const isAllFed = tables.length > 0 && (reads?.files.length ?? 0) === 0;
  return isAllFed && feed !== null && feed.bytes <= LITTLE;
}

/**
 * The largest block that an unfinished operator may make. Two must fit, or lent memory would have to come back at once.
 */
function largestBlock({ jobs, memory: { share } }: State): Bytes {
  let bytes = 0;
  for (const { operators } of jobs.values()) {
    for (const { spec, ended } of operators) {
      if (!ended && spec.kind === "tasks" && spec.sink.kind === "blocks")
        bytes = Math.max(bytes, Math.min(spec.sink.targetBytes, share.inForce.block ?? Number.POSITIVE_INFINITY));
    }
  }
  return bytes;
}

/** Nothing can go on for lack of room: takes lent memory back. True if there was any. */
export function reclaim({ memory: { lease }, ledger, phases: { wide } }: State): boolean {
  if (lease === null || ledger.lent === 0) return false;
  lease.reclaimed = isFed(wide?.task ?? null) ? "for good" : "feeding";
  ledger.lend(0);
  return true;
}

/** Whether all of the task's input is in the kernel. */
function isFed(task: TaskState | null): boolean {
  const feed = task?.input.feed ?? null;
  return feed?.ended === true && feed.inFlight.length === 0;
}

/** How a task of the wide kernel is tried again; null: every further attempt would end in the same way. */
export function attemptAfter(
  { memory: { lease }, phases: { wide } }: State,
  { oom: { wide: attempt } }: TaskState,
  worker: WorkerState,
  end: { readonly kind: "refused" } | { readonly kind: "killed"; readonly peak: Bytes | null },
): WideAttempt | null {
  if (end.kind === "refused" && worker !== wide) return null;
  if (lease === null) return end.kind === "killed" ? attempt : null;
  const { told, pool, buffers } = lease;
  const threads = told === null ? pool.threads : leaseFor(attempt, told, pool.threads).threads;
  const how: WideEnd = end.kind === "refused" ? end : { ...end, buffers };
  return nextAttempt(attempt, how, threads);
}

/** Lends as much as there is room for, and more, step by step, as blocks that do not flow go to disk. */
function lend(state: State, bytes: Bytes): void {
  const { ledger } = state;
  const wanted = Math.max(0, bytes);
  if (wanted > ledger.lent) makeRoom(state, Math.min(wanted - ledger.lent, ledger.capacity * STEP), "cold");
  const punch = ledger.lend(Math.min(wanted, ledger.lent + Math.max(0, ledger.room)));
  if (punch.length > 0) state.commands.push({ type: "punch", ranges: punch });
}

/** No worker has anything to do, and nothing waits for one. */
function isQuiet(state: State): boolean {
  if (state.phases.inspections.length + state.phases.repairs.length > 0) return false;
  for (const { phase } of state.workers.values()) {
    if (phase === "busy" || phase === "inspecting" || (phase === "starting" && !isParkedFor(state, "kernel")))
      return false;
  }
  if (state.phases.fetching.size > 0 || state.placement.programAsks.length > 0) return false;
  for (const job of state.jobs.values()) {
    if (job.phase === "running" && job.operators.some((operator) => isRunnable(state, operator, true))) return false;
  }
  return true;
}
