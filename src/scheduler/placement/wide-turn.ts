/**
 * Whose turn it is in the wide kernel. Operators that have all of their input go first, in the order in which their
 * jobs were started. Next comes an operator that has some of its input: it is fed while its producers run. An operator
 * downstream of another one that needs the kernel is not in turn: its input is complete only after that one has ended.
 *
 * Producers may take hours. A task that waits for them in the kernel stands back for an operator that has all of its
 * input, and is fed again later from what is kept (fed.ts). Why no operator waits for ever: the producers of one
 * outside the kernel go on (what they make is kept, on disk if need be), so its input is complete one day. From
 * then on it stands back for no other operator, and only earlier jobs go first. Within an ordered job,
 * producers of an input that is not next in plan order may wait for the one that is (room.ts, slots.ts): a task that
 * waits for such producers stands back for an operator of its own job on the head path.
 */
import type { Bytes, Milliseconds } from "../../protocol/index.ts";
import { standBack } from "../flow/index.ts";
import { isSomebodyAlone } from "../memory/index.ts";
import { isGoingOn } from "../phases/index.ts";
import type { JobState, OperatorState, State, TaskState } from "../state/index.ts";
import { inputEnded, isWide, waitsForWide } from "../state/index.ts";
import { isOnHeadPath } from "./view.ts";

/** Producers that are about to end may do so: being fed again costs more than that. */
const GRACE: Milliseconds = 250;
/**
 * Bytes that are read again in a millisecond, some of them from disk: the more a task would have to read again, the
 * longer it keeps the kernel.
 */
const REFED: Bytes = 256 * 1024;

/** Some job has an operator that waits for the wide kernel. */
export function isAnyWanted({ jobs }: State): boolean {
  for (const job of jobs.values()) if (inTurn(job).length > 0) return true;
  return false;
}

export function nextInTurn({ jobs }: State): OperatorState | undefined {
  for (const job of jobs.values()) {
    const complete = inTurn(job).find(inputEnded);
    if (complete !== undefined) return complete;
  }
  for (const job of jobs.values()) {
    const begun = inTurn(job).filter(hasInput);
    if (begun.length > 0) return begun.find(isOnHeadPath) ?? begun[0];
  }
  return undefined;
}

/** The operators of the job that need the kernel next: no operator upstream needs it first, and they do not run. */
function inTurn(job: JobState): readonly OperatorState[] {
  if (!isGoingOn(job)) return [];
  const wide = job.operators.filter((one) => isWide(one) && !one.ended);
  const first = wide.length > 1 ? withoutWideBefore(job) : wide;
  return first.filter(mayBegin);
}

/** Inputs come before users in the job: one look at each operator is enough. */
function withoutWideBefore({ operators }: JobState): readonly OperatorState[] {
  const behind = new Set<OperatorState>();
  const first: OperatorState[] = [];
  for (const operator of operators) {
    if (operator.ended) continue;
    const isBehind = [...operator.edges.inputs, ...operator.edges.broadcasts].some(({ producer }) =>
      behind.has(producer),
    );
    if (isWide(operator) && !isBehind) first.push(operator);
    if (isWide(operator) || isBehind) behind.add(operator);
  }
  return first;
}

function mayBegin({
  way,
  phases: { running, aside, resting, again },
  edges: { broadcasts },
  input: { nextIndex },
}: OperatorState): boolean {
  if (
    way.kind === "waiting" ||
    way.kind === "asked" ||
    running.size + aside.size + resting.size > 0 ||
    broadcasts.some((edge) => !edge.ended)
  )
    return false;
  return again.length > 0 || nextIndex === 0;
}

/** Without anything to read, the task would only take memory that others need. */
function hasInput({ phases: { again }, input: { fed } }: OperatorState): boolean {
  return again.length > 0 || fed?.pools[0]?.length !== 0;
}

/**
 * It has all that it needs except the kernel, which runs a task of another job, or of an operator behind it in plan
 * order.
 */
export function isHeldUp(state: State, operator: OperatorState): boolean {
  if (!waitsForWide(state, operator) && !isBefore(operator, state.phases.wide?.task?.operator)) return false;
  return inputEnded(operator) && inTurn(operator.job).includes(operator);
}

function isBefore(operator: OperatorState, other: OperatorState | undefined): boolean {
  if (other?.job !== operator.job || !isWide(operator) || operator.ended) return false;
  return !isOnHeadPath(other) && isOnHeadPath(operator);
}

/** The kernel's task stands back, if it has made another wait for long enough. */
export function yieldInTurn(state: State): void {
  const { placement } = state;
  const task = state.phases.wide?.task ?? null;
  if (task === null || !waitsForProducers(task) || isSomebodyAlone(state) || !isAnybodyHeldUp(state)) {
    placement.wideHeldUpSince = null;
    return;
  }
  placement.wideHeldUpSince ??= state.now;
  if (state.now < yieldDeadline(state)) return;
  placement.wideHeldUpSince = null;
  standBack(state, task);
}

/** When the kernel's task will have made another wait for long enough. */
export function yieldDeadline({ phases, placement: { wideHeldUpSince } }: State): Milliseconds {
  const feed = phases.wide?.task?.input.feed ?? null;
  if (wideHeldUpSince === null || feed === null) return Number.POSITIVE_INFINITY;
  return wideHeldUpSince + GRACE + feed.bytes / REFED;
}

function waitsForProducers({ operator, input: { feed }, cancel: { at: cancelledAt } }: TaskState): boolean {
  return feed !== null && cancelledAt === null && !inputEnded(operator);
}

function isAnybodyHeldUp(state: State): boolean {
  for (const { operators } of state.jobs.values()) {
    if (operators.some((operator) => isHeldUp(state, operator))) return true;
  }
  return false;
}
