/** A task's life: formed from a split or from queued blocks, sent to a worker, ended, run again, or cancelled. */
import { StoreError, toWire, type WireError, WorkerDiedError } from "../errors/index.ts";
import type { BlockRef, OperatorOrder, Split, TaskId, TaskOperator, TaskReport } from "../protocol/index.ts";
import { wholePages } from "../store/index.ts";
import { bytesOfInput } from "./budget.ts";
import { claim, giveBack } from "./claims.ts";
import { deathMessage } from "./deaths.ts";
import type { WorkerEnd } from "./events.ts";
import { drop, endIfDone, handOver, inputEnded, taken, taskOver } from "./flow.ts";
import { failJob } from "./job.ts";
import { heapOf } from "./raised.ts";
import { type OperatorState, type Piece, type State, send, type TaskState, type WorkerState } from "./state.ts";

/** There is input for another task. `partial`: a bundle smaller than the operator likes will do. */
export function isRunnable(operator: OperatorState, partial: boolean): boolean {
  const { spec } = operator;
  if (operator.ended || spec.kind !== "tasks") return false;
  if (operator.again.length > 0) return true;
  if (spec.input.kind === "splits") return operator.nextSplit < spec.input.splits.length;
  if (operator.ready.length === 0) return false;
  return partial || operator.readyRows >= spec.minRowsPerTask || inputEnded(operator);
}

/** The index of the task that `nextTask` would give. */
export function nextIndex(operator: OperatorState): number {
  return operator.again[0]?.index ?? operator.nextIndex;
}

/** Takes the operator's next task out of its input; only where `isRunnable`. */
export function nextTask(state: State, operator: OperatorState, spec: TaskOperator): TaskState {
  const again = operator.again.shift();
  if (again !== undefined) return again;
  if (spec.input.kind === "splits") {
    const split = spec.input.splits[operator.nextSplit];
    if (split === undefined) throw new Error(`${spec.name} has no split ${operator.nextSplit}`);
    operator.nextSplit += 1;
    return formed(operator, split, []);
  }
  const pieces: Piece[] = [];
  let rows = 0;
  while (rows < spec.minRowsPerTask || pieces.length === 0) {
    const piece = operator.ready.shift();
    if (piece === undefined) break;
    taken(piece);
    rows += piece.end - piece.start;
    pieces.push(piece);
  }
  operator.readyRows -= rows;
  operator.figures.tasks += 1;
  const slices = pieces.map(({ flow, start, end }) => ({ block: flow.block, start, end }));
  const task = formed(operator, { kind: "blocks", slices }, pieces);
  for (const { flow } of pieces) state.ledger.pass(flow.block.id, operator.job.holder, task.holder);
  return task;
}

function formed(operator: OperatorState, input: Split, pieces: readonly Piece[]): TaskState {
  const index = operator.nextIndex;
  operator.nextIndex += 1;
  const id = `${operator.job.id}/${operator.spec.id}/${index}` as TaskId;
  return {
    id,
    operator,
    index,
    input,
    pieces,
    holder: `task:${id}`,
    handedOver: [],
    bytesIn: bytesOfInput(input),
    bytesOut: 0,
    attempt: 0,
    worker: null,
    devices: [],
    asking: null,
    granted: null,
    cancelledAt: null,
  };
}

export function startTask(state: State, task: TaskState, spec: TaskOperator, worker: WorkerState): void {
  const { operator } = task;
  const { job } = operator;
  if (!operator.workers.has(worker)) {
    operator.workers.add(worker);
    worker.knows.add(operator);
    const { name, steps, sink, maxRowsPerTask } = spec;
    const order: OperatorOrder = { job: job.id, operator: spec.id, name, steps, sink, maxRowsPerTask };
    send(state, worker, { type: "operator", order });
  }
  task.worker = worker;
  claim(state, task, worker);
  operator.running.add(task);
  job.runningTasks += 1;
  job.changed = true;
  worker.phase = "busy";
  worker.task = task;
  state.idle.delete(worker);
  const { id, index, attempt, input, handedOver } = task;
  const devices = state.devices.count === 0 ? null : task.devices;
  send(state, worker, {
    type: "run",
    task: { id, job: job.id, operator: spec.id, index, attempt, input, handedOver: [...handedOver], devices },
  });
}

export function cancelTask(state: State, task: TaskState): void {
  if (task.cancelledAt !== null || task.worker === null) return;
  task.cancelledAt = state.now;
  state.cancelling.add(task);
  stopAsking(state, task);
  send(state, task.worker, { type: "cancel", task: task.id });
}

export function stopAsking(state: State, task: TaskState): void {
  if (task.asking === null) return;
  task.asking = null;
  task.operator.job.askingTasks -= 1;
  state.asking.delete(task);
}

/** The task has written the block it was given room for. */
export function taskOutput(
  state: State,
  task: TaskState,
  output: {
    readonly length: number;
    readonly rows: number;
    readonly checksum: number;
    readonly columns?: readonly string[];
  },
): void {
  const { operator, granted } = task;
  if (granted === null || output.length > granted.length) {
    const had = granted === null ? "no room" : `room for ${granted.length} bytes`;
    const error = new StoreError(`${operator.spec.name} wrote a block of ${output.length} bytes, having ${had}.`);
    failJob(state, operator.job, toWire(error));
    return;
  }
  task.granted = null;
  if (task.cancelledAt !== null) {
    operator.liveBytes -= granted.length;
    state.ledger.abandon(granted);
    return;
  }
  const block: BlockRef = state.ledger.seal(granted, output.length, output.rows, operator.job.holder);
  operator.liveBytes -= granted.length - wholePages(output.length);
  task.bytesOut += wholePages(output.length);
  task.handedOver.push({ rows: output.rows, length: output.length, checksum: output.checksum });
  operator.job.changed = true;
  handOver(state, task, block, output.columns ?? null);
}

export function taskDone(state: State, task: TaskState, report: TaskReport): void {
  const { operator } = task;
  operator.job.changed = true;
  if (task.cancelledAt === null) {
    operator.figures.taskDone(report);
    operator.estimate.done(task);
  }
  leaveWorker(state, task);
  forget(state, task);
}

/** The task answered a cancel. */
export function taskStopped(state: State, task: TaskState): void {
  leaveWorker(state, task);
  forget(state, task);
}

export function taskFailed(state: State, task: TaskState, error: WireError): void {
  const { job } = task.operator;
  leaveWorker(state, task);
  if (task.cancelledAt === null) {
    const tolerated = error.name === "FunctionError" && job.erroredTasks < job.spec.maxErroredBlocks;
    job.erroredTasks += 1;
    if (!tolerated) failJob(state, job, error);
  }
  forget(state, task);
}

/** The worker under the task died: once more, with what was handed over already, or the end of the job. */
export function taskDied(state: State, task: TaskState, worker: WorkerState, end: WorkerEnd): void {
  const { operator } = task;
  leaveWorker(state, task);
  if (task.cancelledAt !== null || operator.ended || operator.spec.kind !== "tasks") {
    forget(state, task);
    return;
  }
  task.attempt += 1;
  if (!end.outOfHeap && task.attempt <= operator.spec.maxRetries) {
    operator.figures.retries += 1;
    insertByIndex(operator.again, task);
    return;
  }
  const cause = end.outOfHeap ? "heap" : end.signal === null ? "exit" : "signal";
  const message = deathMessage(operator.spec.name, worker.pid, end, task.attempt, heapOf(state, worker));
  const error = new WorkerDiedError(message, operator.spec.name, end.exitCode, end.signal, cause);
  failJob(state, operator.job, toWire(error));
  forget(state, task);
}

function insertByIndex(tasks: TaskState[], task: TaskState): void {
  const at = tasks.findIndex((other) => other.index > task.index);
  tasks.splice(at === -1 ? tasks.length : at, 0, task);
}

/** Back from its worker, whatever became of it: a granted range that was not sealed is free again. */
function leaveWorker(state: State, task: TaskState): void {
  const { operator, worker } = task;
  stopAsking(state, task);
  state.cancelling.delete(task);
  if (task.granted !== null) {
    operator.liveBytes -= task.granted.length;
    state.ledger.abandon(task.granted);
    task.granted = null;
  }
  giveBack(state, task);
  operator.running.delete(task);
  operator.job.runningTasks -= 1;
  task.worker = null;
  if (worker === null) return;
  worker.task = null;
  if (worker.phase !== "busy") return;
  worker.phase = "idle";
  state.idle.add(worker);
}

function forget(state: State, task: TaskState): void {
  const { operator } = task;
  for (const piece of task.pieces) drop(state, piece, task.holder);
  taskOver(state, operator, task.index);
  if (operator.ended) retire(state, operator);
  else endIfDone(state, operator);
}

/**
 * The operator has ended and none of its tasks runs: its workers dispose its instances and forget its functions.
 * Only for a class is the answer waited for: only it has a dispose whose error matters.
 */
export function retire(state: State, operator: OperatorState): void {
  if (!operator.ended || operator.running.size > 0) return;
  for (const worker of operator.workers) retireFrom(state, operator, worker);
}

export function retireFrom(state: State, operator: OperatorState, worker: WorkerState): void {
  operator.workers.delete(worker);
  worker.knows.delete(operator);
  if (operator.isClass) operator.retiring.add(worker);
  send(state, worker, { type: "retire", job: operator.job.id, operator: operator.spec.id });
}
