/**
 * Nothing computes, no disk writes or reads, and the store has no room for what waits: steps 4 to 7 of stall.ts. The
 * program gets time to give back what it reads.
 */
import { StoreError, toWire, type WireError } from "../../errors/index.ts";
import type { Milliseconds } from "../../protocol/index.ts";
import { formatSize } from "../../units/index.ts";
import { awaited, stillToRead } from "../flow/index.ts";
import { liftLimit, reclaim } from "../memory/index.ts";
import { failJob } from "../phases/index.ts";
import {
  DISK_GRACE,
  isPaused,
  outputOf,
  READING_GRACE,
  STORE_GRACE,
  type State,
  type TaskState,
  tell,
} from "../state/index.ts";
import { forgetRefusal, mayCollectSince } from "../store/index.ts";
import { changes, firstWaiting, serve, waitingTasks } from "./first-waiting.ts";
import { grantProgram, grantTask } from "./room.ts";
import { asksOf } from "./slots.ts";
import { bringBackAside, letSomebodyStandBack, letSomebodyUnpin } from "./standing-back.ts";

/**
 * Breaks promises, spills, lets tasks stand back, or gives up; does nothing while the program is about to give
 * something back.
 */
export function overruleStore(state: State): boolean {
  if (!isAnybodyWaiting(state)) {
    state.placement.storeStallSince = null;
    return state.placement.yieldsTo !== null && bringBackAside(state);
  }
  if (reclaim(state)) return true;
  const isReading = state.now < readsUntil(state);
  if (!isReading && (makeDo(state) || liftLimit(state))) return true;
  const { refusal } = state.store;
  // If the disks may be tried again and no task has tried, they are not what everything waits for.
  if (refusal !== null && state.now < refusal.retryAt) {
    state.placement.storeStallSince = null;
    if (!isReading && letSomebodyUnpin(state)) return true;
    if (state.now - refusal.since < DISK_GRACE || mayCollectSince(state, refusal.since)) return false;
    // The next job waits for the disks anew: they may work by then.
    forgetRefusal(state);
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

/** Blocks leave memory only for the task that everything waits for; others take what is free. */
function breakPromise(state: State): boolean {
  const first = firstWaiting(state);
  return (
    asksOf(state, null).some((task) => grantTask(state, task, "none", task === first)) || grantProgram(state, "none")
  );
}

function isAnybodyWaiting(state: State): boolean {
  if (state.placement.programAsks.length > 0 || waitingTasks(state).length > 0) return true;
  for (const job of state.jobs.values()) if (job.phase === "running" && awaited(job).length > 0) return true;
  return false;
}

/** When to stop waiting for the program to release something. */
export function storeDeadline(state: State, since: Milliseconds): Milliseconds {
  const until = readsUntil(state);
  if (state.now < until) return until;
  return since + (state.flow.outputs.size > 0 || state.placement.programRanges.size > 0 ? STORE_GRACE : 0);
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
      `${who} needs ${formatSize(bytes)} of the store, and no block in it can leave: ${formatSize(live)} of ${formatSize(capacity)} ` +
        "are being read or written. Give the session a larger objectStoreMemory, use smaller blocks (targetMaxBlockSize), " +
        "or fewer at once (workers, prefetch).",
    ),
  );
}
