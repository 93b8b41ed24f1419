/**
 * How blocks move from operator to operator: through the reorder buffer of an ordered producer, over edges, into the
 * queue of the consumer; and how an operator ends, and with it the operators that feed only it. Every piece in a queue
 * or a task owns one reference in the ledger; when a piece leaves the job, its reference is released at once (R11).
 */

import { RowShapeError, toWire } from "../../errors/index.ts";
import type { BlockRef, TypeFamily } from "../../protocol/index.ts";
import { forgetAlone } from "../needs/index.ts";
import { failJob, hasTasks, isFailing } from "../phases/index.ts";
import type { Edge, Flow, OperatorState, Piece, State, TaskState } from "../state/index.ts";
import { areSame, type BlockColumns, inputEnded, isWide, meetingColumns, note } from "../state/index.ts";
import { cancelTask } from "./cancel.ts";
import { dropTask } from "./dropping.ts";
import { areAllFormed, dropGathered, gatherPiece } from "./fed.ts";
import { hide } from "./hidden.ts";
import { bytesOf, departed, drop, holderOf, taken } from "./pieces.ts";
import { isThrough } from "./repair.ts";
import { retire } from "./retire.ts";

/** A task's block is sealed; the job holds its one reference. */
export function handOver(
  state: State,
  task: TaskState,
  block: BlockRef,
  made: { readonly columns?: readonly string[]; readonly types?: readonly TypeFamily[] },
  partition: number | null,
): void {
  const { operator } = task;
  const { index, worker: maker } = task;
  const { source: input } = task.input;
  const { handedOver } = task.output;
  const batchSize = task.run.need?.batchSize ?? null;
  const { blockBytes } = task.run;
  const recipe = { input, index, handedOver, number: handedOver.length - 1, batchSize, blockBytes };
  const rests = isWide(operator);
  const flow: Flow = {
    block,
    origin: operator,
    maker,
    columns: sameColumns(operator, made.columns, made.types),
    recipe,
    partition,
    rests,
    uses: 1,
  };
  const piece: Piece = { flow, start: 0, end: block.rows, from: operator };
  if (rests) {
    operator.budget.liveBytes -= bytesOf(piece);
    hide(state, task, piece);
    return;
  }
  if (!operator.ordered || task.index === operator.output.head) {
    emit(state, operator, piece);
    return;
  }
  heldBackOf(operator, task.index).pieces.push(piece);
  operator.output.heldBackBlocks += 1;
  operator.output.heldBackBytes += bytesOf(piece);
}

/** A task is over, done or dropped: pieces that waited behind it in plan order move on. */
export function taskOver(state: State, operator: OperatorState, index: number): void {
  if (!operator.ordered || operator.ended || isFailing(operator.job)) return;
  heldBackOf(operator, index).done = true;
  for (;;) {
    const next = operator.output.heldBack.get(operator.output.head);
    if (next === undefined) return;
    for (let piece = next.pieces.shift(); piece !== undefined; piece = next.pieces.shift()) {
      operator.output.heldBackBlocks -= 1;
      operator.output.heldBackBytes -= bytesOf(piece);
      emit(state, operator, piece);
    }
    // A slice that is satisfied midway has ended this operator, too.
    if (operator.ended || !next.done) return;
    operator.output.heldBack.delete(operator.output.head);
    operator.output.head += 1;
  }
}

function heldBackOf(operator: OperatorState, index: number) {
  let held = operator.output.heldBack.get(index);
  if (held === undefined) {
    held = { pieces: [], done: false };
    operator.output.heldBack.set(index, held);
  }
  return held;
}

/** Passes a piece on to every consumer that still wants input; the piece's one reference becomes one for each. */
function emit(state: State, operator: OperatorState, piece: Piece): void {
  const open = operator.edges.consumers.filter((edge) => !edge.closed);
  const holder = holderOf(piece.flow);
  for (let extra = 1; extra < open.length; extra++) {
    state.ledger.retain(piece.flow.block.id, holder);
    piece.flow.uses += 1;
  }
  if (open.length === 0) drop(state, piece, holder);
  for (const edge of open) arrive(state, edge, piece);
}

export function arrive(state: State, edge: Edge, piece: Piece): void {
  const { consumer } = edge;
  if (!edge.closed) checkColumns(state, edge, piece);
  // An earlier consumer of the same piece may have ended everything meanwhile.
  if (edge.closed || isFailing(edge.producer.job)) {
    drop(state, piece, holderOf(piece.flow));
    return;
  }
  piece.from.output.queuedBlocks += 1;
  if (consumer === null) edge.queue.push(piece);
  else if (edge.isBroadcast) keepForAll(state, consumer, edge.table, piece);
  else if (consumer.ordered && consumer.edges.inputs[consumer.input.currentInput] !== edge) edge.queue.push(piece);
  else accept(state, consumer, edge.table, piece);
}

/** Every task of the consumer will have it: it waits without flowing. */
function keepForAll(state: State, consumer: OperatorState, table: number, piece: Piece): void {
  const { kept: keptHolder } = consumer.job.holders;
  taken(piece);
  if (!piece.flow.rests) state.ledger.pass(piece.flow.block.id, holderOf(piece.flow), keptHolder);
  departed(piece.flow);
  consumer.input.broadcast[table]?.push(piece);
}

/** The list of the last block, if the columns are the same: a million blocks then share one list. */
function sameColumns(
  operator: OperatorState,
  names: readonly string[] | undefined,
  types: readonly TypeFamily[] | undefined,
): BlockColumns | null {
  if (names === undefined) return null;
  const columns = { names, types: types ?? null };
  const { lastColumns } = operator.output;
  if (lastColumns !== null && areSame(lastColumns, columns)) return lastColumns;
  operator.output.lastColumns = columns;
  return columns;
}

function checkColumns(state: State, { consumer, producer, table, isBroadcast }: Edge, { flow, from }: Piece): void {
  if (flow.columns === null) return;
  const { columns } = consumer?.input ?? producer.job.output;
  const seen = { columns: flow.columns, from: from.spec.name };
  const number = isBroadcast ? -1 - table : table;
  const first = columns.get(number);
  if (first?.columns === seen.columns) return;
  const met = first === undefined ? seen : meetingColumns(first, seen, (consumer ?? producer).spec.name);
  if (met instanceof RowShapeError) failJob(state, producer.job, toWire(met));
  else columns.set(number, met);
}

/** The same for columns in files: they meet when the files are read. */
export function checkWritten(state: State, operator: OperatorState, columns: BlockColumns): void {
  const { job, spec } = operator;
  const seen = { columns, from: spec.name };
  const first = job.output.columns.get(0);
  const met = first === undefined ? seen : meetingColumns(first, seen, spec.name);
  if (met instanceof RowShapeError) failJob(state, job, toWire(met));
  else job.output.columns.set(0, met);
}

function accept(state: State, operator: OperatorState, table: number, piece: Piece): void {
  if (operator.input.fed !== null) {
    gatherPiece(state, operator, operator.input.fed, table, piece);
    return;
  }
  if (operator.spec.kind === "slice") {
    passThroughSlice(state, operator, operator.spec, piece);
    return;
  }
  operator.input.ready.push(piece);
  operator.input.readyRows += piece.end - piece.start;
  operator.input.readyBytes += bytesOf(piece);
}

function passThroughSlice(
  state: State,
  operator: OperatorState,
  { offset, limit }: { readonly offset: number; readonly limit: number | null },
  piece: Piece,
): void {
  const before = operator.input.rowsSeen;
  const rows = piece.end - piece.start;
  const stop = limit === null ? Number.POSITIVE_INFINITY : offset + limit;
  const from = Math.max(0, offset - before);
  const to = Math.min(rows, stop - before);
  operator.input.rowsSeen += rows;
  taken(piece);
  if (to > from) {
    note(state, { type: "slicePassed", job: operator.job.id, operator: operator.spec.id, rows: to - from });
    emit(state, operator, { flow: piece.flow, start: piece.start + from, end: piece.start + to, from: operator });
  } else drop(state, piece, holderOf(piece.flow));
  if (operator.input.rowsSeen >= stop) endOperator(state, operator);
}

/** Ends the operator when nothing is left for it to do. */
export function endIfDone(state: State, operator: OperatorState): void {
  if (operator.ended || isFailing(operator.job) || hasTasks(operator) || operator.input.ready.length > 0) return;
  const { spec } = operator;
  const { fed } = operator.input;
  if (spec.kind === "tasks" && spec.input.kind === "splits") {
    if (operator.input.nextSplit < spec.input.splits.length) return;
  } else if (!inputEnded(operator) || (fed !== null && !areAllFormed(state, operator, fed))) return;
  endOperator(state, operator);
}

/**
 * The operator makes no more output: it has done everything, is satisfied, or is not wanted. Its running tasks are
 * cancelled, the rest of its input is released, and operators that feed only it end as well.
 */
export function endOperator(state: State, operator: OperatorState): void {
  if (operator.ended) return;
  operator.ended = true;
  note(state, { type: "operatorEnded", job: operator.job.id, operator: operator.spec.id });
  forgetAlone(state, operator);
  for (const task of unfinished(operator)) noteCut(state, task);
  for (const task of operator.phases.running.values()) cancelTask(state, task);
  for (const task of notWithWorkers(operator)) dropTask(state, task);
  for (const { pieces } of operator.output.heldBack.values()) {
    for (const piece of pieces.splice(0)) drop(state, piece, holderOf(piece.flow));
  }
  operator.output.heldBackBlocks = 0;
  operator.output.heldBackBytes = 0;
  dropQueued(state, operator.input.ready.drain());
  operator.input.readyRows = 0;
  operator.input.readyBytes = 0;
  dropGathered(state, operator);
  for (const edge of operator.edges.inputs) closeEdge(state, edge);
  for (const edge of operator.edges.broadcasts) closeEdge(state, edge);
  dropBroadcast(state, operator);
  retire(state, operator);
  for (const edge of operator.edges.consumers) edgeEnded(state, edge);
}

function noteCut(state: State, { id, output: { handedOver } }: TaskState): void {
  if (handedOver.length === 0) return;
  const rows = handedOver.reduce((sum, one) => sum + one.rows, 0);
  const bytes = handedOver.reduce((sum, one) => sum + one.length, 0);
  note(state, { type: "taskCut", task: id, rows, bytes });
}

/** Tasks that the end of their operator cuts short; their output so far has been used. */
function unfinished({ phases: { running, again, aside, resting } }: OperatorState): readonly TaskState[] {
  return [...running.values(), ...again, ...aside, ...resting];
}

/** Only the operator's own tasks; tasks that make lost blocks again are dropped with their job. */
function notWithWorkers({ phases: { again, aside, resting, fetching } }: OperatorState): readonly TaskState[] {
  return [...again, ...resting, ...[...aside, ...fetching].filter(({ repairs }) => repairs === null)];
}

/** Only when the operator has ended and no task reads them any more, repairs included. */
export function dropBroadcast(state: State, operator: OperatorState): void {
  if (!isThrough(state, operator)) return;
  for (const table of operator.input.broadcast) {
    for (const { flow } of table.splice(0)) state.ledger.release(flow.block.id, operator.job.holders.kept);
  }
}

export function closeEdge(state: State, edge: Edge): void {
  if (edge.closed) return;
  edge.closed = true;
  dropQueued(state, edge.queue.drain());
  if (edge.producer.edges.consumers.every((other) => other.closed)) endOperator(state, edge.producer);
}

function dropQueued(state: State, pieces: readonly Piece[]): void {
  for (const piece of pieces) {
    taken(piece);
    drop(state, piece, holderOf(piece.flow));
  }
}

export function edgeEnded(state: State, edge: Edge): void {
  edge.ended = true;
  const { consumer } = edge;
  if (consumer === null || consumer.ended) return;
  if (consumer.ordered && !edge.isBroadcast) moveToNextInput(state, consumer);
  if (!consumer.ended) endIfDone(state, consumer);
}

/** Ordered: the current input has ended, so the waiting pieces of the next input follow. */
function moveToNextInput(state: State, operator: OperatorState): void {
  while (operator.edges.inputs[operator.input.currentInput]?.ended === true) {
    operator.input.currentInput += 1;
    const next = operator.edges.inputs[operator.input.currentInput];
    if (next === undefined) return;
    while (!operator.ended) {
      const piece = next.queue.shift();
      if (piece === undefined) break;
      accept(state, operator, next.table, piece);
    }
  }
}

/** The task is done: its output is handed on as a whole. */
export function reveal(state: State, task: TaskState): void {
  for (const piece of task.output.hidden.splice(0)) {
    if (task.operator.ended) state.ledger.release(piece.flow.block.id, holderOf(piece.flow));
    else emit(state, task.operator, piece);
  }
}
