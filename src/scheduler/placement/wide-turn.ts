/**
 * Whose turn it is in the wide kernel. Operators that have all of their input go first, in the order in which their jobs
 * were started; then one that has some of it, which is fed while its producers run. Within a job the operator furthest
 * upstream goes first: whoever is downstream of it cannot be through before it.
 *
 * Producers may take hours. Who waits for them in the kernel stands back for whoever has all of its input, and is fed again
 * later from what is kept (fed.ts). Why nobody waits for ever: the producers of an operator that is not in the kernel are
 * never held up by that (what they make is kept, on disk if need be), so its input is complete one day; from then on it
 * stands back for nobody, and only jobs that were started before its own go first.
 */
import type { Bytes, Milliseconds } from "../../protocol/index.ts";
import { standBack } from "../flow/index.ts";
import { isSomebodyAlone } from "../memory/index.ts";
import type { JobState, OperatorState, State, TaskState } from "../state/index.ts";
import { inputEnded, isGoingOn, isWide, waitsForWide } from "../state/index.ts";

/** Producers that are about to end may do so: being fed again costs more than that. */
const GRACE: Milliseconds = 250;
/** What is read again in a millisecond, some of it from disk: the more a task would have to read again, the longer it keeps the kernel. */
const REFED: Bytes = 256 * 1024;

/** Some job has an operator for it that waits. */
export function isAnyWanted({ jobs }: State): boolean {
  for (const job of jobs.values()) if (nextWide(job) !== undefined) return true;
  return false;
}

export function nextInTurn(state: State): OperatorState | undefined {
  return nextWhere(state, inputEnded) ?? nextWhere(state, hasInput);
}

function nextWhere({ jobs }: State, holds: (operator: OperatorState) => boolean): OperatorState | undefined {
  for (const job of jobs.values()) {
    const operator = nextWide(job);
    if (operator !== undefined && holds(operator)) return operator;
  }
  return undefined;
}

/** The first of the job that has not ended, where it does not run yet. */
function nextWide(job: JobState): OperatorState | undefined {
  if (!isGoingOn(job)) return undefined;
  const operator = job.operators.find((one) => isWide(one) && !one.ended);
  if (operator === undefined || operator.running.size + operator.aside.size + operator.resting.size > 0)
    return undefined;
  if (operator.broadcasts.some((edge) => !edge.ended)) return undefined;
  return operator.again.length > 0 || operator.nextIndex === 0 ? operator : undefined;
}

/** Before there is something to read it would only have memory that others need. */
function hasInput({ again, fed }: OperatorState): boolean {
  return again.length > 0 || fed?.pools[0]?.length !== 0;
}

/** It has all that it needs but the kernel, which is with another job's task. */
export function isHeldUp(state: State, operator: OperatorState): boolean {
  return waitsForWide(state, operator) && inputEnded(operator) && nextWide(operator.job) === operator;
}

/** The kernel's task stands back, if it has made another wait for long enough. */
export function yieldInTurn(state: State): void {
  const { wide } = state;
  const task = wide.worker?.task ?? null;
  if (task === null || !waitsForProducers(task) || isSomebodyAlone(state) || !isAnybodyHeldUp(state)) {
    wide.heldUpSince = null;
    return;
  }
  wide.heldUpSince ??= state.now;
  if (state.now < yieldDeadline(state)) return;
  wide.heldUpSince = null;
  standBack(state, task);
}

/** When it will have. */
export function yieldDeadline({ wide }: State): Milliseconds {
  const feed = wide.worker?.task?.feed ?? null;
  if (wide.heldUpSince === null || feed === null) return Number.POSITIVE_INFINITY;
  return wide.heldUpSince + GRACE + feed.bytes / REFED;
}

function waitsForProducers({ operator, feed, cancelledAt }: TaskState): boolean {
  return feed !== null && cancelledAt === null && !inputEnded(operator);
}

function isAnybodyHeldUp(state: State): boolean {
  for (const { operators } of state.jobs.values()) {
    if (operators.some((operator) => isHeldUp(state, operator))) return true;
  }
  return false;
}
