/** A task's life: formed from a split or from queued blocks, sent to a worker, ended, run again, or cancelled. */
import { StoreError, toWire, type WireError, WorkerDiedError } from "../errors/index.ts";
import type {
  ArenaRange,
  BlockId,
  BlockRef,
  Bytes,
  OperatorOrder,
  TaskId,
  TaskInput,
  TaskOperator,
  TaskOrder,
  TaskReport,
} from "../protocol/index.ts";
import { wholePages } from "../store/index.ts";
import { bytesOfInput } from "./budget.ts";
import { claim, giveBack } from "./claims.ts";
import { deathMessage } from "./deaths.ts";
import type { WorkerEnd } from "./events.ts";
import { dropFed, feedTask, isFormable, nextFeed, stopFeeding } from "./fed.ts";
import { pinAll, unpinAll } from "./fetch.ts";
import {
  bytesOf,
  drop,
  dropBroadcast,
  endIfDone,
  handOver,
  holderOf,
  inputEnded,
  putBack,
  taken,
  taskOver,
} from "./flow.ts";
import { failJob } from "./job.ts";
import { leaseOver, relieve, wideKilled } from "./lease.ts";
import { heapOf } from "./raised.ts";
import { isStillLost, repaired, repairOver } from "./repair.ts";
import {
  type Feed,
  type OperatorState,
  type Piece,
  type State,
  send,
  type TaskState,
  type WorkerState,
} from "./state.ts";
import { dropHidden, isWide, reveal } from "./wide.ts";
import { becomeIdle, noLongerIdle } from "./workers.ts";

/** There is input for another task. `partial`: a bundle smaller than the operator likes will do. */
export function isRunnable(state: State, operator: OperatorState, partial: boolean): boolean {
  const { spec } = operator;
  if (operator.ended || spec.kind !== "tasks" || spec.place === "wide") return false;
  if (operator.broadcasts.some((edge) => !edge.ended)) return false;
  if (operator.again.length > 0) return true;
  if (operator.fed !== null) return isFormable(state, operator, operator.fed);
  if (spec.input.kind === "splits") return operator.nextSplit < spec.input.splits.length;
  if (operator.ready.length === 0) return false;
  if (partial && !needsAllRows(spec)) return true;
  return isBundle(operator, spec, operator.readyRows, operator.readyBytes) || inputEnded(operator);
}

/** Enough for a task: the rows it likes, or as many bytes as one may take of the store. */
export function isBundle(operator: OperatorState, spec: TaskOperator, rows: number, bytes: Bytes): boolean {
  return rows >= spec.minRowsPerTask || (bytes >= operator.maxBundle && !needsAllRows(spec));
}

/** It is never given a part of its rows: a sample of so many would be one of each part. */
function needsAllRows(spec: TaskOperator): boolean {
  return spec.minRowsPerTask === Number.MAX_SAFE_INTEGER;
}

/** The index of the task that `nextTask` would give. */
export function nextIndex(operator: OperatorState): number {
  return operator.again[0]?.index ?? operator.nextIndex;
}

/** The blocks that the task would read which `nextTask` would give. */
export function nextNeeds(operator: OperatorState): readonly BlockId[] {
  const { spec } = operator;
  const [again] = operator.again;
  if (again !== undefined) return again.needs;
  const always = alwaysNeeded(operator);
  if (spec.kind !== "tasks" || operator.fed !== null) return always;
  if (spec.input.kind === "splits") {
    const split = spec.input.splits[operator.nextSplit];
    return split === undefined ? [] : needsOf(split, always);
  }
  const needs: BlockId[] = [];
  let rows = 0;
  let bytes = 0;
  for (const piece of operator.ready) {
    needs.push(piece.flow.block.id);
    rows += piece.end - piece.start;
    bytes += bytesOf(piece);
    if (isBundle(operator, spec, rows, bytes)) break;
  }
  return [...needs, ...always];
}

function needsOf(input: TaskState["input"], always: readonly BlockId[]): readonly BlockId[] {
  return input.kind === "blocks" ? [...input.slices.map(({ block }) => block.id), ...always] : always;
}

/** What every task of the operator reads. */
function alwaysNeeded({ broadcast, payloads }: OperatorState): readonly BlockId[] {
  if (broadcast.length === 0) return payloads;
  return [...broadcast.flat().map(({ flow }) => flow.block.id), ...payloads];
}

/** Takes the operator's next task out of its input; only where `isRunnable`. */
export function nextTask(state: State, operator: OperatorState, spec: TaskOperator): TaskState {
  const again = operator.again.shift();
  if (again !== undefined) return again;
  if (operator.fed !== null) {
    const feed = nextFeed(state, operator, operator.fed);
    return formNext(operator, { kind: "fed" }, [], feed);
  }
  if (spec.input.kind === "splits") {
    const split = spec.input.splits[operator.nextSplit];
    if (split === undefined) throw new Error(`${spec.name} has no split ${operator.nextSplit}`);
    operator.nextSplit += 1;
    return formNext(operator, split, []);
  }
  const pieces = takeBundle(state, operator, spec);
  operator.figures.tasks += 1;
  const slices = pieces.map(({ flow, start, end }) => ({ block: flow.block, start, end }));
  const task = formNext(operator, { kind: "blocks", slices }, pieces);
  for (const { flow } of pieces) state.ledger.pass(flow.block.id, holderOf(flow), operator.job.taskHolder);
  return task;
}

/** Whole batches where the operator likes so many rows at a time: what is left of the last piece waits for the next task. */
function takeBundle(state: State, operator: OperatorState, spec: TaskOperator): readonly Piece[] {
  const pieces: Piece[] = [];
  let rows = 0;
  let bytes = 0;
  while (pieces.length === 0 || !isBundle(operator, spec, rows, bytes)) {
    const piece = operator.ready.shift();
    if (piece === undefined) break;
    taken(piece);
    rows += piece.end - piece.start;
    bytes += bytesOf(piece);
    pieces.push(piece);
  }
  operator.readyRows -= rows;
  operator.readyBytes -= bytes;
  const last = pieces.at(-1);
  const isEnd = operator.ready.length === 0 && inputEnded(operator);
  const surplus = rows > spec.minRowsPerTask && !isEnd ? rows % spec.minRowsPerTask : 0;
  if (last === undefined || surplus === 0) return pieces;
  const cut = last.end - surplus;
  putBack(state, operator, { ...last, start: cut });
  return [...pieces.slice(0, -1), { ...last, end: cut }];
}

function formNext(
  operator: OperatorState,
  input: TaskState["input"],
  pieces: readonly Piece[],
  feed: Feed | null = null,
): TaskState {
  const index = operator.nextIndex;
  operator.nextIndex += 1;
  return formTask(operator, `${operator.job.id}/${operator.spec.id}/${index}` as TaskId, index, input, pieces, feed);
}

export function formTask(
  operator: OperatorState,
  id: TaskId,
  index: number,
  input: TaskState["input"],
  pieces: readonly Piece[],
  feed: Feed | null = null,
): TaskState {
  const needs = needsOf(input, alwaysNeeded(operator));
  return {
    id,
    operator,
    index,
    input,
    pieces,
    feed,
    hidden: [],
    needs,
    pins: needs.map(() => null),
    repairs: null,
    handedOver: [],
    bytesIn: input.kind === "fed" ? null : bytesOfInput(input),
    bytesOut: 0,
    attempt: 0,
    worker: null,
    devices: [],
    asking: null,
    granted: null,
    cancelledAt: null,
    standsBack: false,
  };
}

/** The task waits for a worker, with what it has pinned. */
export function comesAgain(state: State, task: TaskState): void {
  dropHidden(state, task);
  if (task.repairs === null) insertByIndex(task.operator.again, task);
  else state.repairs.push(task);
}

/** All that it reads is in memory. */
export function startTask(state: State, task: TaskState, spec: TaskOperator, worker: WorkerState): void {
  const { operator, repairs } = task;
  const { job } = operator;
  if (!operator.workers.has(worker)) {
    operator.workers.add(worker);
    worker.knows.add(operator);
    const { name, steps, sink, maxRowsPerTask } = spec;
    const order: OperatorOrder = {
      job: job.id,
      operator: spec.id,
      name,
      steps,
      sink,
      maxRowsPerTask,
      setsOrder: spec.setsOrder,
      broadcast: spec.broadcast.map(({ columns }) => columns),
    };
    send(state, worker, { type: "operator", order });
  }
  task.worker = worker;
  claim(state, task, worker);
  if (repairs === null) {
    operator.running.set(task.index, task);
    operator.estimate.began(task);
  } else operator.repairing.add(task);
  job.runningTasks += 1;
  job.changed = true;
  noLongerIdle(state, worker, "busy");
  worker.task = task;
  const ranges = pinAll(state, task);
  const { id, index, attempt, input, handedOver } = task;
  const order: TaskOrder = {
    id,
    job: job.id,
    operator: spec.id,
    index,
    attempt,
    input: placed(input, spec, ranges),
    payloads: ranges.slice(ranges.length - operator.payloads.length),
    broadcast: broadcastOf(operator, ranges),
    handedOver: [...handedOver],
    devices: state.devices.count === 0 ? null : task.devices,
    ...(repairs === null ? {} : { repair: repairs.flow.recipe.number }),
  };
  send(state, worker, { type: "run", task: order });
  if (task.feed !== null) {
    state.feeding.add(task);
    feedTask(state, task, "cold");
  }
}

function broadcastOf({ broadcast, payloads }: OperatorState, ranges: readonly ArenaRange[]): TaskOrder["broadcast"] {
  let at = ranges.length - payloads.length - broadcast.reduce((sum, table) => sum + table.length, 0);
  return broadcast.map((table) =>
    table.map(({ start, end }) => {
      const range = ranges[at++];
      if (range === undefined) throw new Error("a broadcast block that is not pinned");
      return { range, start, end };
    }),
  );
}

function placed(input: TaskState["input"], spec: TaskOperator, ranges: readonly ArenaRange[]): TaskInput {
  if (input.kind === "fed") {
    return { kind: "fed", tables: spec.input.kind === "fed" ? spec.input.tables.map(({ columns }) => columns) : [] };
  }
  if (input.kind !== "blocks") return input;
  const slices = input.slices.map(({ start, end }, i) => {
    const range = ranges[i];
    if (range === undefined) throw new Error("a slice of a block that is not pinned");
    return { range, start, end };
  });
  return { kind: "blocks", slices };
}

export function cancelTask(state: State, task: TaskState): void {
  if (task.cancelledAt !== null || task.worker === null) return;
  task.cancelledAt = state.now;
  state.cancelling.add(task);
  stopAsking(state, task);
  send(state, task.worker, { type: "cancel", task: task.id });
}

/** Cancels a task only to make room: it is run again when there is more. */
export function standBack(state: State, task: TaskState): void {
  task.standsBack = true;
  cancelTask(state, task);
}

export function stopAsking(state: State, task: TaskState): void {
  const { operator } = task;
  if (task.asking === null) return;
  operator.askingBytes -= task.asking.bytes;
  task.asking = null;
  operator.job.askingTasks -= 1;
  operator.asking.delete(task);
  if (operator.asking.size === 0) state.askers.delete(operator);
  state.askingTasks -= 1;
}

/** The task has written the block it was given room for. */
export function taskOutput(
  state: State,
  task: TaskState,
  output: {
    readonly length: number;
    readonly rows: number;
    readonly checksum: number;
    readonly partition?: number;
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
  if (task.cancelledAt !== null) {
    giveBackGrant(state, task);
    return;
  }
  if (task.repairs !== null) {
    repaired(state, task);
    return;
  }
  task.granted = null;
  operator.grantedBytes -= granted.length;
  operator.grantedTasks -= 1;
  const { length, rows, checksum } = output;
  const maker = task.worker?.id ?? null;
  const block: BlockRef = state.ledger.seal(granted, length, rows, checksum, operator.job.holder, maker);
  operator.liveBytes -= granted.length - wholePages(length);
  task.bytesOut += wholePages(length);
  operator.estimate.grew(task, wholePages(length));
  task.handedOver.push({ rows, length, checksum });
  operator.job.changed = true;
  handOver(state, task, block, output.columns ?? null, output.partition ?? null);
}

function giveBackGrant(state: State, task: TaskState): void {
  const { operator, granted } = task;
  if (granted === null) return;
  task.granted = null;
  operator.liveBytes -= granted.length;
  operator.grantedBytes -= granted.length;
  operator.grantedTasks -= 1;
  state.ledger.abandon(granted);
}

export function taskDone(state: State, task: TaskState, report: TaskReport): void {
  const { operator } = task;
  operator.job.changed = true;
  if (task.cancelledAt === null) {
    operator.figures.taskDone(report);
    operator.estimate.done(task);
  }
  leaveWorker(state, task);
  if (task.cancelledAt === null) reveal(state, task);
  forget(state, task);
}

/** The task answered a cancel. */
export function taskStopped(state: State, task: TaskState): void {
  leaveWorker(state, task);
  if (!resumesLater(state, task)) forget(state, task);
}

/** It has stood back, and is wanted as before. */
function resumesLater(state: State, task: TaskState): boolean {
  if (!task.standsBack || task.operator.ended) return false;
  task.standsBack = false;
  task.cancelledAt = null;
  unpinAll(state, task);
  if (state.yieldsTo === null) comesAgain(state, task);
  else task.operator.aside.add(task);
  return true;
}

export function taskFailed(state: State, task: TaskState, error: WireError): void {
  const { job } = task.operator;
  const isRelieved = task.cancelledAt === null && error.name === "KernelMemoryError" && relieve(state, task);
  leaveWorker(state, task);
  if (isRelieved) {
    comesAgain(state, task);
    return;
  }
  unpinAll(state, task);
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
  if (resumesLater(state, task)) return;
  const isWanted =
    task.repairs === null ? !operator.ended : operator.job.phase === "running" && isStillLost(state, task);
  if (task.cancelledAt !== null || !isWanted || operator.spec.kind !== "tasks") {
    forget(state, task);
    return;
  }
  task.attempt += 1;
  if (isWide(operator) && end.signal === "SIGKILL") wideKilled(state);
  if (!end.outOfHeap && task.attempt <= operator.spec.maxRetries) {
    operator.figures.retries += 1;
    comesAgain(state, task);
    return;
  }
  const cause = end.outOfHeap ? "heap" : end.signal === null ? "exit" : "signal";
  const message = deathMessage(operator.spec.name, worker.pid, end, task.attempt, heapOf(state, worker));
  const error = new WorkerDiedError(message, operator.spec.name, end.exitCode, end.signal, cause);
  unpinAll(state, task);
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
  giveBackGrant(state, task);
  giveBack(state, task);
  stopFeeding(state, task);
  if (task.repairs === null) {
    operator.running.delete(task.index);
    operator.estimate.left(task);
  } else operator.repairing.delete(task);
  operator.job.runningTasks -= 1;
  task.worker = null;
  if (worker === null) return;
  worker.task = null;
  worker.kernelBytes = 0;
  if (worker.phase === "busy") becomeIdle(state, worker);
}

function forget(state: State, task: TaskState): void {
  const { operator } = task;
  if (isWide(operator)) leaseOver(state);
  dropTask(state, task);
  if (task.repairs === null) taskOver(state, operator, task.index);
  else repairOver(state, task);
  if (operator.ended) {
    dropBroadcast(state, operator);
    retire(state, operator);
  } else endIfDone(state, operator);
}

/** The task will not run, or has run: what it read may go. */
export function dropTask(state: State, task: TaskState): void {
  unpinAll(state, task);
  for (const piece of task.pieces) drop(state, piece, task.operator.job.taskHolder);
  dropHidden(state, task);
  if (task.feed !== null) dropFed(state, task.feed.queue);
}

/**
 * The operator has ended and none of its tasks runs: its workers dispose its instances and forget its functions.
 * Only for a class is the answer waited for: only it has a dispose whose error matters.
 */
export function retire(state: State, operator: OperatorState): void {
  if (!operator.ended || operator.running.size + operator.repairing.size > 0) return;
  for (const worker of operator.workers) retireFrom(state, operator, worker);
}

export function retireFrom(state: State, operator: OperatorState, worker: WorkerState): void {
  operator.workers.delete(worker);
  operator.idle.delete(worker);
  worker.knows.delete(operator);
  if (operator.isClass) operator.retiring.add(worker);
  send(state, worker, { type: "retire", job: operator.job.id, operator: operator.spec.id });
}
