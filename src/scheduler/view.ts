/** What the policies see of an operator, and where in plan order it stands. */

import type { TaskOperator } from "../protocol/index.ts";
import { inputEnded } from "./flow.ts";
import type { OperatorView } from "./policies/index.ts";
import type { OperatorState, State, TaskState } from "./state.ts";
import { isBundle } from "./tasks.ts";

/**
 * Half of the store is shared out among the running jobs' block queues; what the program keeps makes way for them. Not
 * more than what one worker may be answerable for without spilling: all of it may be of one worker's making.
 */
const QUEUE_FRACTION = 0.5;

/** `isHead`: for a task whose output is next in plan order, what waits behind it is no reason to wait. */
export function viewOf(state: State, operator: OperatorState, isHead: boolean): OperatorView {
  const { spec, job } = operator;
  let queuedBlocks = isHead ? 0 : operator.heldBackBlocks;
  let queuedBytes = isHead ? 0 : operator.heldBackBytes;
  let consumerGathers = false;
  // A slice keeps no tasks waiting: what it has passed on and nobody took is its producer's backlog.
  const producers = [operator];
  for (let next = producers.pop(); next !== undefined; next = producers.pop()) {
    queuedBlocks += next.queuedBlocks;
    queuedBytes += next.queuedBytes;
    for (const { consumer, closed } of next.consumers) {
      if (closed || consumer === null) continue;
      if (consumer.spec.kind === "slice") producers.push(consumer);
      else if (isGathering(consumer, consumer.spec)) consumerGathers = true;
    }
  }
  const whole = Math.min(state.ledger.capacity, state.managedTarget ?? Number.POSITIVE_INFINITY);
  const pool = whole * QUEUE_FRACTION;
  return {
    running: operator.running.size,
    maxRunning: spec.kind === "tasks" ? spec.concurrency.max : 0,
    queuedBlocks,
    queuedBytes,
    blockBound: 2 * state.slots + 2,
    byteShare: pool / (Math.max(1, state.jobs.size) * Math.max(1, job.blockOperators)),
    consumerGathers,
  };
}

function isGathering(consumer: OperatorState, spec: TaskOperator): boolean {
  return !isBundle(consumer, spec, consumer.readyRows, consumer.readyBytes) && !inputEnded(consumer);
}

/** Everything after the operator waits for its output, not for another input before it. */
export function isOnHeadPath(operator: OperatorState): boolean {
  for (const edge of operator.consumers) {
    const { consumer } = edge;
    if (edge.closed) continue;
    if (consumer === null) return true;
    if (consumer.ordered && consumer.inputs[consumer.currentInput] !== edge) continue;
    if (isOnHeadPath(consumer)) return true;
  }
  return false;
}

/** The one task of an ordered operator that its consumer waits for; of any other operator, every task. */
export function isHeadTask(operator: OperatorState, index: number): boolean {
  return !operator.ordered || index === operator.head;
}

/** Everything waits for the task: its output is next in plan order, or it makes a lost block again. */
export function isUrgent({ operator, index, repairs }: TaskState): boolean {
  return repairs !== null || (isHeadTask(operator, index) && isOnHeadPath(operator));
}

/** What everything waits for first; then what is nearest to a job's end; then what runs already; then who asked first. */
export function byUrgency(a: TaskState, b: TaskState): number {
  return (
    Number(isUrgent(b)) - Number(isUrgent(a)) ||
    byDownstream(a.operator, b.operator) ||
    Number(a.worker === null) - Number(b.worker === null) ||
    askedFirst(a, b)
  );
}

export function byDownstream(a: OperatorState, b: OperatorState): number {
  return fromEnd(a) - fromEnd(b);
}

function askedFirst(a: TaskState, b: TaskState): number {
  return (a.asking?.order ?? 0) - (b.asking?.order ?? 0) || a.index - b.index;
}

function fromEnd({ job, depth }: OperatorState): number {
  return job.operators.length - depth;
}
