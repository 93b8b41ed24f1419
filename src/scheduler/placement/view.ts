/** What the policies see of an operator, and where in plan order it stands. */
import type { Bytes, TaskOperator } from "../../protocol/index.ts";
import { wholePages } from "../../store/index.ts";
import { type Account, budgetLeft, bytesOfSlice } from "../flow/index.ts";
import type { OperatorView } from "../policies/index.ts";
import type { OperatorState, State, TaskState } from "../state/index.ts";
import { inputEnded, isBundle } from "../state/index.ts";

/** `isHead`: the task's output is next in plan order, so blocks that wait behind it are no reason to wait. */
export function viewOf(state: State, operator: OperatorState, isHead: boolean): OperatorView {
  return new View(state, operator, isHead);
}

/** Computed only when asked for: most of the time operators are far from any bound. */
export class View implements OperatorView {
  #queuedBlocks: number | null = null;

  constructor(
    protected readonly state: State,
    protected readonly operator: OperatorState,
    private readonly isHead: boolean,
  ) {}

  get queuedBlocks(): number {
    this.#queuedBlocks ??= queuedBy(this.operator) + (this.isHead ? 0 : this.operator.output.heldBackBlocks);
    return this.#queuedBlocks;
  }

  get running(): number {
    return this.operator.phases.running.size;
  }

  get maxRunning(): number {
    return mostAtOnce(this.operator);
  }

  get blockBound(): number {
    return 2 * this.state.options.workers + 2;
  }

  get consumerGathers(): boolean {
    return isAwaited(this.operator);
  }

  get budget(): Bytes {
    return budgetOf(this.state, this.operator);
  }

  get expected(): Bytes {
    return expectedOf(this.operator);
  }
}

/** The user's `concurrency`, or fewer if that many tasks ran out of memory. */
export function mostAtOnce({ spec, needs: { learned } }: OperatorState): number {
  if (spec.kind !== "tasks") return 0;
  return Math.min(spec.concurrency.max, learned?.atOnce ?? Number.POSITIVE_INFINITY);
}

/** A slice has no tasks: pieces that it passed on and no consumer took count as its producer's backlog. */
function queuedBy({ output: { queuedBlocks }, edges: { consumers } }: OperatorState): number {
  let blocks = queuedBlocks;
  for (const { consumer, closed } of consumers) {
    if (!closed && consumer?.spec.kind === "slice") blocks += queuedBy(consumer);
  }
  return blocks;
}

/** A consumer, possibly behind a slice, gathers rows for its next task. */
function isAwaited({ edges: { consumers } }: OperatorState): boolean {
  return consumers.some(({ consumer, closed }) => {
    if (closed || consumer === null) return false;
    return consumer.spec.kind === "slice" ? isAwaited(consumer) : isGathering(consumer, consumer.spec);
  });
}

function isGathering(consumer: OperatorState, spec: TaskOperator): boolean {
  // A fed consumer takes what it can as it comes: more input would not help it to start.
  if (consumer.input.fed !== null) return false;
  return !isBundle(consumer, spec, consumer.input.readyRows, consumer.input.readyBytes) && !inputEnded(consumer);
}

/**
 * Jobs share the store evenly; what the program keeps makes way for them. At most what one worker may have without
 * spilling, because one worker may make all of it.
 */
function budgetOf(state: State, operator: OperatorState): Bytes {
  const whole = Math.min(state.ledger.inForce, state.memory.managedTarget ?? Number.POSITIVE_INFINITY);
  let part = whole / Math.max(1, state.jobs.size);
  const accounts: Account[] = [];
  for (const other of operator.job.operators) {
    if (!makesBlocks(other)) continue;
    // An operator that has ended needs no reservation; the rest of its output counts against the pool.
    if (other.ended) part -= other.budget.liveBytes;
    else accounts.push(accountOf(other));
  }
  return budgetLeft(accountOf(operator), accounts, Math.max(0, part));
}

function accountOf(operator: OperatorState): Account {
  return { usage: operator.budget.liveBytes, block: blockOf(operator) };
}

function makesBlocks({ spec }: OperatorState): boolean {
  return spec.kind === "tasks" && spec.sink.kind === "blocks";
}

/** A block of the size that it is asked to make, or the largest that it has made. */
function blockOf({ spec, budget: { largestReservation } }: OperatorState): Bytes {
  if (spec.kind !== "tasks" || spec.sink.kind !== "blocks") return 0;
  return Math.max(largestReservation, wholePages(spec.sink.targetBytes));
}

/**
 * What the running tasks and one more will ask for next. Each task asks for a grant for every block, so at most one
 * block of a task is outstanding without a grant. Granted bytes are in the operator's usage.
 */
function expectedOf(operator: OperatorState): Bytes {
  const block = blockOf(operator);
  if (block === 0) return 0;
  const { estimate, grantedTasks, grantedBytes } = operator.budget;
  const { running, askingBytes } = operator.phases;
  const rest = (estimate.rest ?? Number.POSITIVE_INFINITY) - grantedBytes;
  const ofRunning = Math.min(block * (running.size - grantedTasks), Math.max(askingBytes, rest));
  return Math.min(block, estimate.of(nextInput(operator)) ?? block) + ofRunning;
}

/** Bytes that the operator's next task will read; null where that is not known. */
function nextInput({ spec, input: { ready } }: OperatorState): Bytes | null {
  if (spec.kind !== "tasks" || spec.minRowsPerTask > 1) return null;
  const piece = ready.peek();
  if (piece === undefined) return null;
  return bytesOfSlice(piece.flow.block, piece.start, piece.end);
}

/** Everything after the operator waits for its output, not for another input before it. */
export function isOnHeadPath(operator: OperatorState): boolean {
  for (const edge of operator.edges.consumers) {
    const { consumer } = edge;
    if (edge.closed) continue;
    if (consumer === null) return true;
    if (consumer.ordered && !edge.isBroadcast && consumer.edges.inputs[consumer.input.currentInput] !== edge) continue;
    if (isOnHeadPath(consumer)) return true;
  }
  return false;
}

/** The one task of an ordered operator that its consumer waits for; of any other operator, every task. */
export function isHeadTask(operator: OperatorState, index: number): boolean {
  return !operator.ordered || index === operator.output.head;
}

/** Everything waits for the task: its output is next in plan order, or it makes a lost block again. */
export function isUrgent({ operator, index, repairs }: TaskState): boolean {
  return repairs !== null || (isHeadTask(operator, index) && isOnHeadPath(operator));
}

/**
 * The order of tasks: urgent tasks first; then those nearest to the end of a job; then those that run already; then in
 * the order of asking.
 */
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
