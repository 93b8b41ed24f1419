/**
 * Which task is given room in the store, and when. Room runs out in every job larger than memory, so this file decides
 * whether such a job flows or stands still.
 *
 * Each operator with block output is promised room for one block. A task is given room only where, after that, the
 * promises to every operator downstream of it can still be kept; where it is not next in plan order, the promises to
 * those before it as well. Why the sink then always progresses, whatever the sizes and speeds, as long as the store
 * holds one block for each operator:
 *   1. Take the operator furthest downstream that has a task asking, with nothing live further down. All live blocks
 *      were given to operators upstream of it, and each of these left room for the promised block of this operator: it
 *      is served.
 *   2. Something live further down is in a queue, with a running task, or with the program. In a queue: its consumer
 *      can be started, with a worker more if all of them wait (stall.ts). With a running task: that task computes, or
 *      asks and is further downstream, and 1 applies to it. With the program: it reads, or it has stopped reading, and
 *      then the job should stand still. Every step brings a block nearer to the sink, and the number of steps is
 *      finite: the block gets there. Where the store is smaller than that, or blocks turn out larger than any before,
 *      stall.ts overrules the promises, and fails the job when not even that helps.
 */

import { toWire } from "../../errors/index.ts";
import type { ArenaRange, Bytes } from "../../protocol/index.ts";
import { wholePages } from "../../store/index.ts";
import { advance, askedFor, grantRange, nextNeeds, yields } from "../flow/index.ts";
import { asksForRoom, failJob, moveTask } from "../phases/index.ts";
import { roomPolicies } from "../policies/index.ts";
import { isPaused, nextOrder, type OperatorState, type State, send, type TaskState, tell } from "../state/index.ts";
import { availableRoom, takeRoom } from "../store/index.ts";
import { byDownstream, byUrgency, isHeadTask, isOnHeadPath, isUrgent, viewOf } from "./view.ts";

/** A block is full when it has passed its target, so it may be somewhat larger. */
const OVER_TARGET = 1.5;

/** How far to go: look at all askers; break promises; overrule policies. */
type Strictness = "all" | "promises" | "none";

export function askForRoom(state: State, task: TaskState, bytes: Bytes): void {
  const { operator } = task;
  try {
    state.ledger.assertFits(bytes, `${operator.spec.name}: a task`);
  } catch (error) {
    failJob(state, operator.job, toWire(error));
    return;
  }
  askedFor(operator, wholePages(bytes));
  asksForRoom(state, task, bytes);
}

export function askForProgram(state: State, request: number, bytes: Bytes): void {
  try {
    state.ledger.assertFits(bytes, "The program");
  } catch (error) {
    tell(state, { type: "refused", request, error: toWire(error) });
    return;
  }
  state.placement.programAsks.push({ request, bytes, order: nextOrder(state) });
}

/**
 * Serves all that can be served: operators downstream first; within an operator, tasks that write before tasks whose
 * input is still on disk; the program, which feeds every job, last.
 */
export function grantRoom(state: State): void {
  if (state.phases.askers.size > 0 || state.phases.fetching.size > 0) {
    const waiting = new Set(state.phases.askers);
    for (const { operator } of state.phases.fetching) waiting.add(operator);
    let isShort = false;
    const inTurn = waiting.size === 1 ? waiting : [...waiting].sort(byDownstream);
    for (const operator of inTurn) isShort = serveOperator(state, operator, isShort);
  }
  while (state.placement.programAsks.length > 0 && grantProgram(state, "all")) {
    // One after the other, in the order of asking.
  }
}

/**
 * Serves first the task that everything waits for, whether it writes or waits for its input. The other tasks are alike:
 * if one cannot be served, those that asked later cannot be served either. A task that is about to start does not take
 * the room that a running task waits for. True if there was too little room.
 */
function serveOperator(state: State, operator: OperatorState, wasShort: boolean): boolean {
  const head = operator.ordered ? operator.phases.running.get(operator.output.head) : undefined;
  let isShort = wasShort;
  if (head !== undefined && head.asking !== null && grant(state, head, "all") === "room") isShort = true;
  const fetches = [...operator.phases.fetching].filter((task) => !yields(state, task)).sort(byUrgency);
  const urgent = operator.ordered && !isShort ? fetches.find(isUrgent) : undefined;
  if (urgent !== undefined) advance(state, urgent, "cold");
  for (const task of operator.phases.asking) {
    const lack = task === head ? null : grant(state, task, "all");
    if (lack === "room") isShort = true;
    if (lack !== null) break;
  }
  if (!isShort) for (const task of fetches) if (task !== urgent) advance(state, task, "cold");
  return isShort;
}

/** Why a task has to wait. */
type Lack = "room" | "policy";

/** `mayEvict`: blocks that do not flow may leave for it. */
export function grantTask(state: State, task: TaskState, strictness: Strictness, mayEvict = true): boolean {
  return task.asking !== null && grant(state, task, strictness, mayEvict) === null;
}

function grant(state: State, task: TaskState, strictness: Strictness, mayEvict = true): Lack | null {
  const { operator, asking, worker } = task;
  if (asking === null || worker === null) return null;
  if (strictness === "all" && task.repairs === null) {
    const view = viewOf(state, operator, isHeadTask(operator, task.index));
    if (!roomPolicies.every((policy) => policy.mayWrite(view, wholePages(asking.bytes)))) return "policy";
  }
  const room = availableRoom(state) - wholePages(asking.bytes);
  const promised = strictness === "none" || task.repairs !== null ? 0 : promisedBefore(state, operator, task.index);
  const range = room < promised ? null : take(state, asking.bytes, mayEvict);
  if (range === null) return "room";
  moveTask(state, task, "running");
  grantRange(task, range);
  send(state, worker, { type: "reserved", task: task.id, range });
  return null;
}

/** A range for the task; null if room has to be made first: that room is then reserved for it. */
function take(state: State, bytes: Bytes, mayEvict: boolean): ArenaRange | null {
  const allocation = takeRoom(state, wholePages(bytes), mayEvict ? "cold" : null, () => state.ledger.reserve(bytes));
  if (allocation === "none" || allocation === "coming") return null;
  if (allocation.punch.length > 0) state.commands.push({ type: "punch", ranges: allocation.punch });
  return allocation.range;
}

/** The program is upstream of every job. */
export function grantProgram(state: State, strictness: Strictness): boolean {
  const ask = state.placement.programAsks[0];
  if (ask === undefined) return false;
  const room = availableRoom(state) - wholePages(ask.bytes);
  let promised = 0;
  for (const job of strictness === "none" ? [] : state.jobs.values()) {
    // A job that the program has stopped reading needs no room for now.
    if (!isPaused(job)) promised += promisedAfter(state, job.operators, -1);
  }
  if (room < promised) return false;
  const range = take(state, ask.bytes, true);
  if (range === null) return false;
  state.placement.programAsks.shift();
  state.placement.programRanges.set(range.offset, range);
  tell(state, { type: "reserved", request: ask.request, range });
  return true;
}

/** The program has written its block into the range. */
export function programRangeUsed({ placement }: State, { offset }: ArenaRange): void {
  placement.programRanges.delete(offset);
}

/** A task that begins now would get room for its first block; otherwise it would only keep a worker from others. */
export function hasRoomToStart(state: State, operator: OperatorState, index: number): boolean {
  const own = promise(state, operator);
  const room = availableRoom(state) - (own === 0 ? 0 : own + promisedBefore(state, operator, index));
  if (own > 0 && room < 0) return false;
  const input = nextNeeds(operator).reduce((sum, id) => sum + state.ledger.costOfPin(id), 0);
  return input === 0 || room >= input;
}

/** Room that must be left for other operators before the task may have any. */
export function promisedBefore(state: State, operator: OperatorState, index: number): Bytes {
  const { operators } = operator.job;
  // Another input of the job comes first: all other operators have precedence.
  if (!isOnHeadPath(operator)) return promisedAfter(state, operators, -1) + promise(state, operator);
  const after = promisedAfter(state, operators, operator.depth);
  return isHeadTask(operator, index) ? after : after + promise(state, operator);
}

/** What is still owed to the operators after this one: their promised block less what they have. */
function promisedAfter(state: State, operators: readonly OperatorState[], depth: number): Bytes {
  let bytes = 0;
  for (let i = depth + 1; i < operators.length; i++) {
    const other = operators[i];
    if (other !== undefined && !other.ended) bytes += Math.max(0, promise(state, other) - inTurn(other));
  }
  return bytes;
}

/** The operator's bytes that are on their way. A block that waits for an earlier task's output is not on its way. */
function inTurn(operator: OperatorState): Bytes {
  if (!operator.ordered) return operator.budget.liveBytes;
  const toHead = operator.phases.running.get(operator.output.head)?.output.granted?.length ?? 0;
  return operator.budget.liveBytes - operator.output.heldBackBytes - (operator.budget.grantedBytes - toHead);
}

/** Room for a block of the size it is asked to make, or the largest it has made. */
function promise(state: State, { job, spec, budget: { largestReservation } }: OperatorState): Bytes {
  if (spec.kind !== "tasks" || spec.sink.kind !== "blocks") return 0;
  const expected = Math.max(largestReservation, wholePages(spec.sink.targetBytes * OVER_TARGET));
  return Math.min(expected, state.ledger.inForce / (job.blockOperators + 1));
}
