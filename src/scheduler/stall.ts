/**
 * What happens when nothing happens. Policies and promises make tasks wait; this is the proof that they do not wait for
 * ever. Steps, each taken only when those before it cannot help:
 *   a job stands still, and not because the program has stopped reading:
 *     0. GPUs that an idle instance has go to an operator that waits for them;
 *     1. a policy is overruled: room for the task that most waits for it, or a start, or a smaller bundle;
 *   no worker anywhere computes:
 *     2. work waits for workers that all wait: an instance moves to another worker, or one more worker is started;
 *     3. a promise is broken (see room.ts);
 *     4. the store is full of what nobody will let go: the youngest job that needs room fails, with the figures.
 */

import { StoreError, toWire } from "../errors/index.ts";
import type { Milliseconds } from "../protocol/index.ts";
import { formatSize } from "../units/index.ts";
import { hasDevices, idleInstance } from "./claims.ts";
import { isSpread, isWanted, type Leniency, mayStart, startOneOf, waitsForOthers } from "./dispatch.ts";
import { READING_GRACE, SLOT_GRACE, STORE_GRACE } from "./events.ts";
import { failJob, outputOf } from "./job.ts";
import { raisedFor } from "./raised.ts";
import { grantProgram, grantTask } from "./room.ts";
import { type JobState, type OperatorState, type State, type TaskState, tell } from "./state.ts";
import { retireFrom } from "./tasks.ts";
import { byDownstream, isHeadTask, isOnHeadPath } from "./view.ts";

/** Each level of a pipeline and each job inside a job can need one; more than a few is a loop. */
const MAX_EXTRA_WORKERS = 8;
const ANYTHING: Leniency = { overBound: true, partial: true };

/** True where it has changed something, so that there may be more to do. */
export function resolveStall(state: State): boolean {
  const anybodyActive = isAnybodyActive(state);
  for (const job of state.jobs.values()) {
    if (!isStill(job) || isPaused(job)) continue;
    if (moveDevices(state, job, anybodyActive) || overrulePolicies(state, job, anybodyActive)) return true;
  }
  if (anybodyActive) {
    state.slotStallSince = null;
    state.storeStallSince = null;
    return false;
  }
  const found = findWorker(state);
  if (found !== "none") return found === "changed";
  return overruleStore(state);
}

/** When to look again although nothing has happened; null where only an event can change anything. */
export function stallDeadline(state: State): Milliseconds | null {
  if (state.slotStallSince !== null) return state.slotStallSince + SLOT_GRACE;
  if (state.storeStallSince === null) return null;
  const deadline = state.storeStallSince + storeGrace(state);
  return deadline === Number.POSITIVE_INFINITY ? null : deadline;
}

/** A worker that computes, ends, starts or answers will say something by itself. */
function isAnybodyActive(state: State): boolean {
  for (const worker of state.workers.values()) {
    if (worker.phase === "starting" || worker.phase === "inspecting" || worker.phase === "stopping") return true;
    if (worker.task !== null && worker.task.asking === null) return true;
  }
  for (const job of state.jobs.values()) {
    if (job.operators.some((operator) => operator.retiring.size > 0)) return true;
  }
  return false;
}

function isStill(job: JobState): boolean {
  return (
    job.phase === "running" &&
    job.runningTasks === job.askingTasks &&
    !job.operators.some((operator) => operator.retiring.size > 0)
  );
}

/** The program wants nothing more of it for now. */
function isPaused(job: JobState): boolean {
  const { spec } = outputOf(job).producer;
  return job.credit <= 0 && (spec.kind === "slice" || spec.sink.kind === "blocks");
}

/** The program reads some job's output, and will give it back. */
function isProgramReading(state: State): boolean {
  for (const job of state.jobs.values()) {
    if (job.phase !== "running" || job.isCollected) continue;
    if (job.unread > 0 || (isPaused(job) && outputOf(job).queue.length > 0)) return true;
  }
  return false;
}

/** How long to wait for the program to let something go. */
function storeGrace(state: State): Milliseconds {
  if (isProgramReading(state)) return state.jobs.size > 1 ? READING_GRACE : Number.POSITIVE_INFINITY;
  return state.ledger.holds("program").bytes > 0 ? STORE_GRACE : 0;
}

function overrulePolicies(state: State, job: JobState, anybodyActive: boolean): boolean {
  // Its next task only waits for what others have: that is no reason to pile up more before it.
  if (anybodyActive && job.operators.some((one) => waitsForOthers(state, one))) return false;
  // What is not next in plan order waits rather than take the room of what is.
  if (asksOf(state, job).some((task) => isUrgent(task) && grantTask(state, task, "promises"))) return true;
  const helps = helpful(state, job);
  return [false, true].some((partial) => startOneOf(state, job, { overBound: true, partial, headOnly: true, helps }));
}

/** Where the task that all wait for waits for room itself, only what takes blocks downstream of it can make any. */
function helpful(state: State, job: JobState): (operator: OperatorState) => boolean {
  const depth = Math.max(
    -1,
    ...asksOf(state, job)
      .filter(isUrgent)
      .map(({ operator }) => operator.depth),
  );
  return (operator) => depth < 0 || (operator.depth > depth && operator.inputs.length > 0);
}

function breakPromise(state: State): boolean {
  return asksOf(state, null).some((task) => grantTask(state, task, "none")) || grantProgram(state, "none");
}

/** Of one job, or of all that the program has not stopped; the most urgent first. */
function asksOf(state: State, job: JobState | null): TaskState[] {
  const asks = [...state.asking].filter(({ operator }) =>
    job === null ? !isPaused(operator.job) : operator.job === job,
  );
  return asks.sort((a, b) => Number(isUrgent(b)) - Number(isUrgent(a)) || byDownstream(a, b));
}

function isUrgent({ operator, index }: TaskState): boolean {
  return isHeadTask(operator, index) && isOnHeadPath(operator);
}

/** Something could run if it had a worker: "coming", where it has to be waited for. */
function findWorker(state: State): "changed" | "coming" | "none" {
  const waiting = startable(state);
  if (waiting.some((operator) => operator.isClass && isSpread(operator) && moveInstance(state, operator))) {
    return "changed";
  }
  const useful = waiting.some((operator) => !(operator.isClass && isSpread(operator)));
  const isFull = state.workers.size >= state.slots + MAX_EXTRA_WORKERS;
  if ((!useful && state.inspections.length === 0) || state.workers.size === 0 || isFull) {
    state.slotStallSince = null;
    return "none";
  }
  state.slotStallSince ??= state.now;
  if (state.now - state.slotStallSince >= SLOT_GRACE) {
    state.slotStallSince = null;
    state.commands.push({ type: "spawn", memory: raisedFor(state, waiting) });
  }
  return "coming";
}

function startable(state: State): OperatorState[] {
  return [...state.jobs.values()]
    .filter((job) => job.phase === "running" && !isPaused(job))
    .flatMap((job) =>
      job.operators.filter(helpful(state, job)).filter((one) => isOnHeadPath(one) && mayStart(state, one, ANYTHING)),
    );
}

/** The workers with the instances all wait on behalf of others: give one instance up, so that it can be made elsewhere. */
function moveInstance(state: State, operator: OperatorState): boolean {
  for (const worker of operator.workers) {
    if (worker.phase !== "busy" || worker.task?.operator === operator) continue;
    retireFrom(state, operator, worker);
    return true;
  }
  return false;
}

/** GPUs are with an instance that has nothing to do, of the same job or, where nobody works, of another: they move on. */
function moveDevices(state: State, job: JobState, anybodyActive: boolean): boolean {
  for (const operator of [...job.operators].reverse()) {
    if (operator.gpus === 0 || hasDevices(state, operator) || !isWanted(state, operator, ANYTHING)) continue;
    const idle = idleInstance(anybodyActive ? [job] : state.jobs.values(), operator);
    if (idle === null) continue;
    retireFrom(state, idle.operator, idle.worker);
    return true;
  }
  return false;
}

/** Breaks a promise, or gives up; neither while the program may be about to give something back. */
function overruleStore(state: State): boolean {
  const asking = asksOf(state, null);
  if (asking.length === 0 && state.programAsks.length === 0) {
    state.storeStallSince = null;
    return false;
  }
  const isReading = isProgramReading(state);
  if (!isReading && breakPromise(state)) return true;
  state.storeStallSince ??= state.now;
  if (state.now - state.storeStallSince < storeGrace(state)) return false;
  state.storeStallSince = null;
  if (isReading && breakPromise(state)) return true;
  return giveUp(state, asking);
}

function giveUp(state: State, asking: readonly TaskState[]): boolean {
  const [youngest] = [...asking].sort((a, b) => b.operator.job.order - a.operator.job.order);
  if (youngest !== undefined) {
    const who = `${youngest.operator.spec.name}: a task`;
    failJob(state, youngest.operator.job, full(state, who, youngest.asking?.bytes ?? 0));
    return true;
  }
  const ask = state.programAsks.shift();
  if (ask === undefined) return false;
  tell(state, { type: "refused", request: ask.request, error: full(state, "The program", ask.bytes) });
  return true;
}

function full(state: State, who: string, bytes: number) {
  const { live, capacity } = state.ledger;
  const kept = state.ledger.holds("program").bytes;
  return toWire(
    new StoreError(
      `${who} needs ${formatSize(bytes)} of the store, and nothing that is there will be released: ${formatSize(live)} of ${formatSize(capacity)} ` +
        `are in use, ${formatSize(kept)} of them kept by the program. Give the session a larger objectStoreMemory, dispose ` +
        "materialised datasets, or use smaller blocks (targetMaxBlockSize).",
    ),
  );
}
