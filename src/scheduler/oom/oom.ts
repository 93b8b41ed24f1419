/**
 * A task that ran out of memory: its worker was ended for it, a function was refused memory, or the kernel was. It is
 * run again a little later and asks for less (need.ts); its operator remembers that need for later tasks. When there is
 * nothing left to try, the job fails with an error that lists all attempts.
 */

import {
  isMemoryReason,
  isMemoryRefused,
  type MemoryReason,
  OutOfMemoryError,
  toWire,
  type WireError,
} from "../../errors/index.ts";
import { kernelLease } from "../../memory/index.ts";
import type { Bytes, KernelLease, LearnedNeed, Milliseconds } from "../../protocol/index.ts";
import { needText } from "../../units/index.ts";
import { comesAgain, unpinAll } from "../flow/index.ts";
import { attemptAfter, heapOf, isBystander, mayBeFullOfOthers } from "../memory/index.ts";
import {
  forgetAppetite,
  isOfTheWorker,
  kernelRanOut,
  learn,
  NO_NEED,
  nextNeed,
  roomForTasks,
  stricter,
} from "../needs/index.ts";
import { moveTask } from "../phases/index.ts";
import type { Scene, WorkerEnd } from "../state/index.ts";
import {
  filesRead,
  isWide,
  note,
  type OperatorState,
  type Shortage,
  type State,
  type TaskState,
  tellNotice,
  type WorkerState,
  watch,
} from "../state/index.ts";
import { largestBatch } from "./batch.ts";
import { deathDetails, peakOf } from "./deaths.ts";
import { causeText, foreignText, oomMessage, refusedText } from "./oom-message.ts";
import { remedies } from "./remedies.ts";

/** `FULL`: share of the worker's limit. `BESIDE_HEAP`: multiple of its heap limit. */
const FULL = 0.9;
const BESIDE_HEAP = 1.5;
const FIRST_REST: Milliseconds = 500;
const LONGEST_REST: Milliseconds = 8_000;

/** What happened: the end of a process, or an error of the task. */
type Evidence = { readonly end: WorkerEnd } | { readonly error: WireError; readonly scene?: Scene };

/** Null: the failure had another cause than memory. */
export function oomCause(evidence: Evidence): MemoryReason | null {
  if ("error" in evidence) return refused(evidence.error);
  const { cause } = evidence.end;
  return isMemoryReason(cause) ? cause : null;
}

function refused({ name, message, fields }: WireError): MemoryReason | null {
  if (name === "KernelMemoryError") return "engineMemory";
  const thrown = name === "FunctionError" ? String(fields.errorName) : name;
  return isMemoryRefused(thrown, message) ? "allocation" : null;
}

/**
 * The task has left the worker, and is still wanted. Null: it is run again; otherwise the error with which its job
 * fails.
 */
export function ranOutOfMemory(
  state: State,
  task: TaskState,
  worker: WorkerState,
  cause: MemoryReason,
  evidence: Evidence,
): WireError | null {
  const { operator } = task;
  const { shortages } = task.oom;
  const shortage = shortageOf(state, task, worker, cause, evidence);
  shortages.push(shortage);
  const isPardoned = isNotItsDoing(state, task, worker, shortage);
  const next = () => (isPardoned ? shortage.need : nextAttempt(state, task, worker, shortage));
  const need = shortages.length <= oomRetriesOf(operator) ? next() : null;
  if (need === null) {
    if (!mayBlameRows(task, shortage)) return failure(state, task, worker, shortage, evidence);
    task.oom.blamesRows = true;
  }
  task.oom.attempt += 1;
  if (cause === "engineMemory") kernelRanOut(operator);
  if (!isPardoned) {
    // What tasks took in larger batches, or with more calls under way, says nothing about later tasks.
    forgetAppetite(operator);
    learn(state, operator, stricter(operator.needs.learned, need ?? shortage.need));
    noteLearned(state, operator);
  }
  watch(state, { type: "oomRetry", ...told(state, task, worker, shortage) });
  tellRetry(state, task, causeOf(state, worker, shortage, evidence));
  rest(state, task);
  return null;
}

function noteLearned(state: State, { job, spec, needs: { learned: need } }: OperatorState): void {
  if (need !== null) note(state, { type: "learned", job: job.id, operator: spec.id, need });
}

/**
 * Nothing is left to try, and memory was refused: the function asked for more than there is. If its `onError` drops
 * rows, the task is run once more and drops this row.
 */
function mayBlameRows({ operator, oom: { blamesRows } }: TaskState, shortage: Shortage): boolean {
  if (blamesRows || shortage.cause !== "allocation" || oomRetriesOf(operator) === 0) return false;
  return nextNeed(shortage) === null && dropsRows(operator);
}

function dropsRows({ spec }: OperatorState): boolean {
  return (
    spec.kind === "tasks" && spec.steps.some((step) => step.kind === "function" && step.options.onError !== "fail")
  );
}

/** Tasks whose pause is over wait for a worker again. */
export function endResting(state: State): void {
  for (const task of state.phases.resting) {
    if (state.now < task.oom.restsUntil) continue;
    comesAgain(state, task);
  }
}

export function restDeadline({ phases: { resting } }: State): Milliseconds {
  let at = Number.POSITIVE_INFINITY;
  for (const { oom } of resting) at = Math.min(at, oom.restsUntil);
  return at;
}

/** Asking for less would not help: others have filled the node or, at the first failure, possibly the worker. */
function isNotItsDoing(state: State, task: TaskState, worker: WorkerState, shortage: Shortage): boolean {
  if (isWide(task.operator)) return false;
  if (shortage.foreign !== null) return true;
  return task.oom.shortages.length === 1 && isOfTheWorker(shortage.cause) && mayBeFullOfOthers(state, worker, task);
}

function nextAttempt(state: State, task: TaskState, worker: WorkerState, shortage: Shortage): LearnedNeed | null {
  if (!isWide(task.operator)) return withinSlots(state, nextNeed(shortage));
  const isRefused = shortage.cause === "engineMemory";
  const end = isRefused ? ({ kind: "refused" } as const) : ({ kind: "killed", peak: shortage.memory } as const);
  const next = attemptAfter(state, task, worker, end);
  if (next === null) return null;
  task.oom.wide = next;
  return NO_NEED;
}

/** The task's worker died, from any cause. The wide kernel is often killed for its memory without a trace. */
export function countCrash(state: State, task: TaskState, worker: WorkerState, end: WorkerEnd): void {
  task.oom.attempt += 1;
  if (!isWide(task.operator) || end.signal !== "SIGKILL") return;
  const next = attemptAfter(state, task, worker, { kind: "killed", peak: peakOf(end) });
  if (next !== null) task.oom.wide = next;
}

/** There are no more tasks at once than workers, even if memory would hold more. */
function withinSlots({ options: { workers: slots } }: State, need: LearnedNeed | null): LearnedNeed | null {
  return need === null || need.atOnce === null ? need : { ...need, atOnce: Math.min(need.atOnce, slots) };
}

function shortageOf(
  state: State,
  task: TaskState,
  worker: WorkerState,
  cause: MemoryReason,
  evidence: Evidence,
): Shortage {
  const { operator } = task;
  const given = largestBatch(task);
  const asked = task.run.need?.batchSize ?? null;
  const curve = "end" in evidence ? evidence.end.curve.map((point) => point.private) : [];
  const seen = Math.max(0, worker.memory.reading?.private ?? 0, ...curve);
  const had = "error" in evidence ? kernelLimitOf(evidence.error) : null;
  return {
    cause,
    need: task.run.need ?? NO_NEED,
    batchSize: given === null || asked === null ? given : Math.min(given, asked),
    isFixed: task.output.handedOver.length > 0,
    atOnce: operator.phases.running.size + 1,
    memory: seen === 0 ? null : seen,
    limit: worker.memory.limit,
    room: roomForTasks(state),
    foreign: cause === "monitor" && isBystander(worker, task, seen) ? worker.memory.foreign : null,
    kernel: had === null ? null : { had, most: leaseAlone(state).memory ?? had },
  };
}

/** What the kernel that ran out of memory could use; null: it had no limit, or the failure was not the kernel's. */
export function kernelLimitOf({ name, fields }: WireError): Bytes | null {
  return name === "KernelMemoryError" && typeof fields.limit === "number" ? fields.limit : null;
}

/** For the kernel of a task that is alone. */
export function leaseAlone(state: State): KernelLease {
  return kernelLease(roomForTasks(state), 1, true);
}

function oomRetriesOf({ spec }: OperatorState): number {
  return spec.kind === "tasks" ? spec.maxOomRetries : 0;
}

function rest(state: State, task: TaskState): void {
  // No pause for a repair, because another task waits for the lost block, nor for the wide kernel, whose lease does not
  // depend on other tasks.
  if (task.repairs !== null || isWide(task.operator)) {
    comesAgain(state, task);
    return;
  }
  // Its input may leave memory meanwhile.
  unpinAll(state, task);
  task.oom.restsUntil = state.now + Math.min(LONGEST_REST, FIRST_REST * 2 ** (task.oom.shortages.length - 1));
  moveTask(state, task, "resting");
}

function tellRetry(state: State, task: TaskState, cause: string): void {
  const { operator } = task;
  const { job, spec } = operator;
  const need = operator.needs.learned ?? NO_NEED;
  const { blamesRows } = task.oom;
  const retry = { need, isWide: isWide(operator), dropsRows: blamesRows };
  const what = `${spec.id}/oom/${needText({ ...need, memory: null })}/${blamesRows}`;
  tellNotice(state, { kind: "outOfMemory", operator: spec.name, cause, retry }, { job: job.id, what });
}

/** Tells observers and listeners about it. */
function told(state: State, task: TaskState, worker: WorkerState, { cause, need, memory, limit }: Shortage) {
  const { operator, oom, input } = task;
  return {
    operator: operator.spec.name,
    task: task.id,
    worker: worker.id,
    pid: worker.pid,
    attempt: oom.shortages.length,
    reason: cause,
    asked: need,
    need: operator.needs.learned ?? NO_NEED,
    memory,
    limit: Number.isFinite(limit) ? limit : null,
    files: filesRead(input.source),
    remedies: adviceFor(state, task),
  };
}

function adviceFor(state: State, { operator, oom: { shortages } }: TaskState): readonly string[] {
  return remedies({
    operator: operator.spec,
    shortages,
    workers: state.options.workers,
    workerMemory: state.memory.workerMemory,
    total: state.memory.node?.total ?? state.memory.lease?.pool.memory ?? null,
    allowed: state.resources.total.memory,
    isWide: isWide(operator),
    took: operator.needs.mostTook,
  });
}

function failure(state: State, task: TaskState, worker: WorkerState, last: Shortage, evidence: Evidence): WireError {
  const { operator } = task;
  const { shortages } = task.oom;
  const seen = shortages.flatMap(({ memory }) => memory ?? []);
  const memory = seen.length === 0 ? null : Math.max(...seen);
  const advice = adviceFor(state, task);
  const isLast = operator.way.kind !== "undecided";
  watch(state, { type: isLast ? "oomFailure" : "oomRetry", ...told(state, task, worker, last) });
  const scene = "end" in evidence ? evidence.end : evidence.scene;
  const message = oomMessage({
    operator: operator.spec.name,
    task: task.id,
    pid: worker.pid,
    memory,
    had: last.memory,
    cause: causeOf(state, worker, last, evidence),
    // If the system killed the worker first, the scheduler's own reason to end it is left out.
    why: last.cause === "monitor" || last.cause === "terminate" ? worker.memory.endedFor : null,
    node: scene?.node ?? nodeOf(state),
    names: namesOf(state, task, worker),
    shortages,
    isWide: isWide(operator),
    ending: "end" in evidence ? deathDetails(evidence.end) : null,
    log: scene?.log || null,
    said: "end" in evidence ? evidence.end.tail : evidence.error.message,
    remedies: advice,
  });
  return toWire(new OutOfMemoryError(message, operator.spec.name, last.cause, memory, shortages.length, advice));
}

function causeOf(state: State, worker: WorkerState, { cause, foreign }: Shortage, evidence: Evidence): string {
  const victim = "end" in evidence ? "its worker" : "a process that its function had started";
  if (cause === "heap" && "end" in evidence && isFullBesideHeap(state, worker, peakOf(evidence.end) ?? 0)) {
    return refusedText(worker.memory.limit);
  }
  const systemKills = "end" in evidence ? Math.max(evidence.end.oomKills.container, evidence.end.oomKills.machine) : 0;
  const text = causeText(cause, limitOf(state, worker, cause), victim, systemKills);
  return foreign === null ? text : `${text}; ${foreignText(foreign)}`;
}

/**
 * V8 reports a full heap and a refused allocation in the same words; here the heap is the smaller part of the process.
 */
function isFullBesideHeap(state: State, worker: WorkerState, peak: Bytes): boolean {
  const heap = heapOf(state, worker);
  return heap !== null && peak >= FULL * worker.memory.limit && peak >= BESIDE_HEAP * heap;
}

/** The limit that the attempt reached. */
function limitOf(state: State, worker: WorkerState, cause: MemoryReason): Bytes | null {
  return cause === "heap" ? heapOf(state, worker) : worker.memory.limit;
}

function nodeOf({ memory: { node }, options: { memory } }: State) {
  if (node === null) return null;
  return { ...node, host: null, threshold: memory?.memoryUsageThreshold ?? null, users: [] };
}

/** Names of the session's processes by what they do. */
function namesOf(state: State, task: TaskState, worker: WorkerState): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  for (const one of state.workers.values()) {
    names.set(one.pid, `worker ${one.id} (${one.task?.operator.spec.name ?? "idle"})`);
  }
  const { wide } = state.phases;
  if (wide !== null) names.set(wide.pid, `wide kernel (${wide.task?.operator.spec.name ?? "idle"})`);
  names.set(worker.pid, `worker ${worker.id} (${task.operator.spec.name}), this task`);
  return names;
}
