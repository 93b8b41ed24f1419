/** What the policies see of an operator, and where in plan order it stands. */

import { inputEnded } from "./flow.ts";
import type { OperatorView } from "./policies/index.ts";
import type { OperatorState, State, TaskState } from "./state.ts";

/** Half of the store, beside what the program keeps, is shared out among the running jobs' block queues. */
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
      else if (consumer.readyRows < consumer.spec.minRowsPerTask && !inputEnded(consumer)) consumerGathers = true;
    }
  }
  const kept = state.ledger.holds("program").bytes;
  const pool = Math.max(0, state.ledger.capacity - kept) * QUEUE_FRACTION;
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

/** Those nearest to the job's end first, and among equals who asked first. */
export function byDownstream(a: TaskState, b: TaskState): number {
  const distance = fromEnd(a.operator) - fromEnd(b.operator);
  if (distance !== 0) return distance;
  return (a.asking?.order ?? 0) - (b.asking?.order ?? 0);
}

function fromEnd({ job, depth }: OperatorState): number {
  return job.operators.length - depth;
}
