/**
 * Fed tasks: those whose input is more than memory holds, or comes while they run. Their blocks are handed to them a
 * few at a time, and kept (on disk, when room is short) until the task is done: when its worker dies, another one is
 * fed the same blocks in the same order. Its spec says what a fed operator gathers into one task:
 *
 *   all          one task, fed while the producers still run
 *   whole        one task, once all producers have ended; no task without input
 *   partitions   one for each, or for neighbours together, once all producers have ended; blocks come with the number
 *                of their partition
 *   parts, rows  one for each stretch of rows in plan order, once all producers have ended
 */
import { groupsOf } from "../../partitions/index.ts";
import type { Bytes, Gather, PlacedSlice, TaskOperator } from "../../protocol/index.ts";
import {
  type Fed,
  type FedPiece,
  type Feed,
  inputEnded,
  note,
  type OperatorState,
  type Piece,
  type State,
  send,
  type TaskState,
  waitsForWide,
} from "../state/index.ts";
import type { Leaving } from "../store/index.ts";
import { bringBack } from "./fetch.ts";
import { departed, drop, holderOf, taken } from "./pieces.ts";

/** One is read while the next is on its way, if both leave enough of the store for the task's output. */
const MAX_FEEDS = 2;
const AHEAD_SHARE = 1 / 4;
/** Small blocks are fed together up to this, or up to this part of the store. */
const FEED_BYTES: Bytes = 16 * 2 ** 20;
const FEED_SHARE = 1 / 16;

export function fedState(spec: TaskOperator): Fed | null {
  if (spec.input.kind !== "fed") return null;
  const { gather } = spec.input;
  const pools = Array.from({ length: gather.kind === "partitions" ? gather.count : 1 }, () => []);
  return { gather, pools, inputs: null };
}

/** A block has come for a fed operator. */
export function gatherPiece(state: State, operator: OperatorState, fed: Fed, table: number, piece: Piece): void {
  const pool = fed.pools[fed.gather.kind === "partitions" ? (piece.flow.partition ?? -1) : 0];
  if (pool === undefined) {
    throw new Error(`${operator.spec.name} was handed a block of the partition ${piece.flow.partition}`);
  }
  const fedPiece: FedPiece = { table, piece, isKept: false };
  pool.push(fedPiece);
  // No task can read this block before all blocks are there, or before the kernel is free. Producers must not wait for
  // that.
  if (fed.gather.kind !== "all" || waitsForWide(state, operator) || operator.way.kind === "waiting") {
    keep(state, fedPiece);
  }
}

/** No task reads the gathered input for now. */
export function keepGathered(state: State, { input: { fed } }: OperatorState): void {
  if (fed?.gather.kind === "all") for (const fedPiece of fed.pools[0] ?? []) keep(state, fedPiece);
}

/** The block no longer flows: it no longer counts as its producer's output, and it may go to disk. */
function keep(state: State, fedPiece: FedPiece): void {
  if (fedPiece.isKept) return;
  fedPiece.isKept = true;
  const { piece } = fedPiece;
  const { job } = piece.flow.origin;
  taken(piece);
  const holder = holderOf(piece.flow);
  if (holder !== job.holders.kept) state.ledger.pass(piece.flow.block.id, holder, job.holders.kept);
  departed(piece.flow);
}

/** A task can be formed: its input is complete or, for `all`, may begin. */
export function isFormable(state: State, operator: OperatorState, fed: Fed): boolean {
  if (fed.gather.kind === "all") return operator.input.nextIndex === 0;
  return inputEnded(operator) && operator.input.nextIndex < fedInputs(state, operator, fed).length;
}

/** Every task of it has been formed. */
export function areAllFormed(state: State, operator: OperatorState, fed: Fed): boolean {
  if (fed.gather.kind === "all") return operator.input.nextIndex > 0;
  return operator.input.nextIndex >= fedInputs(state, operator, fed).length;
}

export function nextFeed(state: State, operator: OperatorState, fed: Fed): Feed {
  const queue = fed.gather.kind === "all" ? fed.pools[0] : fedInputs(state, operator, fed)[operator.input.nextIndex];
  if (queue === undefined) throw new Error(`${operator.spec.name} has no input ${operator.input.nextIndex}`);
  return { queue, next: 0, bytes: 0, inFlight: [], ended: false };
}

/** What each task reads, once all is there; at least one task where an empty input may give rows. */
function fedInputs(state: State, operator: OperatorState, fed: Fed): readonly FedPiece[][] {
  if (fed.inputs !== null) return fed.inputs;
  const { gather, pools } = fed;
  const [whole = []] = pools;
  switch (gather.kind) {
    case "all":
      throw new Error(`${operator.spec.name} has one task`);
    case "whole":
      fed.inputs = whole.length > 0 ? [whole] : [];
      break;
    case "partitions": {
      const tables = new Map(pools.flat().map((fedPiece) => [fedPiece.table, fedPiece]));
      fed.inputs = byTask(gather, pools).map((input) => [...input, ...shapesMissing(state, input, tables)]);
      break;
    }
    case "parts": {
      const rows = rowsOf(whole);
      const ends = Array.from({ length: gather.count }, (_, i) => Math.floor(((i + 1) * rows) / gather.count));
      fed.inputs = cut(state, whole, ends);
      break;
    }
    case "rows": {
      const count = Math.ceil(rowsOf(whole) / gather.rows);
      fed.inputs = cut(
        state,
        whole,
        Array.from({ length: count }, (_, i) => (i + 1) * gather.rows),
      );
    }
  }
  if (fed.inputs.length === 0 && gather.kind !== "whole") fed.inputs.push([]);
  const { job, spec } = operator;
  note(state, { type: "tasksKnown", job: job.id, operator: spec.id, tasks: fed.inputs.length });
  return fed.inputs;
}

/** The partitions of each task, now that their bytes are known. */
function byTask({ together }: Extract<Gather, { kind: "partitions" }>, pools: readonly FedPiece[][]): FedPiece[][] {
  if (together === undefined) return pools.filter((pool) => pool.length > 0);
  return groupsOf(pools.map(bytesOf), together).map((partitions) => partitions.flatMap((i) => pools[i] ?? []));
}

/** An empty slice of a table that the task has no rows of, so that it learns the table's columns. */
function shapesMissing(
  state: State,
  input: readonly FedPiece[],
  tables: ReadonlyMap<number, FedPiece>,
): readonly FedPiece[] {
  const missing = new Map(tables);
  for (const { table } of input) missing.delete(table);
  return [...missing.values()].map(({ table, piece }) => {
    state.ledger.retain(piece.flow.block.id, piece.flow.origin.job.holders.kept);
    return { table, piece: { ...piece, end: piece.start }, isKept: true };
  });
}

function rowsOf(pieces: readonly FedPiece[]): number {
  return pieces.reduce((sum, { piece }) => sum + piece.end - piece.start, 0);
}

/** Stretches that end where `ends` say, in rows from the beginning; empty ones are left out. */
function cut(state: State, whole: readonly FedPiece[], ends: readonly number[]): FedPiece[][] {
  const stretches: FedPiece[][] = [];
  let stretch: FedPiece[] = [];
  let at = 0;
  let next = 0;
  for (const { table, piece } of whole) {
    let { start } = piece;
    while (start < piece.end) {
      const left = (ends[next] ?? Number.POSITIVE_INFINITY) - at;
      if (left <= 0) {
        if (stretch.length > 0) stretches.push(stretch);
        stretch = [];
        next += 1;
        continue;
      }
      const end = Math.min(piece.end, start + left);
      if (start > piece.start) state.ledger.retain(piece.flow.block.id, piece.flow.origin.job.holders.kept);
      stretch.push({ table, piece: { ...piece, start, end }, isKept: true });
      at += end - start;
      start = end;
    }
  }
  if (stretch.length > 0) stretches.push(stretch);
  return stretches;
}

/** Hands the task what it can take; false if the next block is on disk and cannot come back. */
export function feedTask(state: State, task: TaskState, leaving: Leaving): boolean {
  const { worker } = task;
  const { feed } = task.input;
  if (feed === null || worker === null || task.cancel.at !== null) return true;
  while (feed.inFlight.length < MAX_FEEDS && feed.next < feed.queue.length) {
    const bundle = nextBundle(state, feed);
    const [first] = bundle;
    if (first === undefined) {
      const waiting = feed.queue[feed.next];
      return waiting === undefined || bringBack(state, waiting.piece.flow.block.id, leaving);
    }
    if (feed.inFlight.length > 0 && bytesOf([...feed.inFlight.flat(), ...bundle]) > mostAhead(state)) return true;
    const slices = bundle.map(({ piece }): PlacedSlice => {
      return { range: state.ledger.pin(piece.flow.block.id), start: piece.start, end: piece.end };
    });
    feed.next += bundle.length;
    feed.bytes += bytesOf(bundle);
    feed.inFlight.push(bundle);
    send(state, worker, { type: "feed", task: task.id, table: first.table, slices });
  }
  if (!feed.ended && feed.next === feed.queue.length && isComplete(task)) {
    feed.ended = true;
    send(state, worker, { type: "feedEnd", task: task.id });
  }
  return true;
}

function mostAhead({ ledger }: State): Bytes {
  return ledger.inForce * AHEAD_SHARE;
}

function bytesOf(pieces: readonly FedPiece[]): Bytes {
  return pieces.reduce((sum, { piece }) => sum + piece.flow.block.length, 0);
}

/** The next blocks for one table, as far as they are in memory. */
function nextBundle({ ledger }: State, { queue, next }: Feed): FedPiece[] {
  const bundle: FedPiece[] = [];
  const most = Math.min(FEED_BYTES, ledger.inForce * FEED_SHARE);
  let bytes = 0;
  for (let i = next; i < queue.length && bytes < most; i++) {
    const fedPiece = queue[i];
    if (fedPiece === undefined || fedPiece.table !== (bundle[0]?.table ?? fedPiece.table)) break;
    const { block } = fedPiece.piece.flow;
    if (!ledger.isInMemory(block.id)) break;
    bytes += block.length;
    bundle.push(fedPiece);
  }
  return bundle;
}

function isComplete({ operator }: TaskState): boolean {
  return operator.input.fed?.gather.kind !== "all" || inputEnded(operator);
}

/** The task has read the oldest block that it was sent. */
export function feedRead(state: State, task: TaskState): void {
  for (const fedPiece of task.input.feed?.inFlight.shift() ?? []) {
    state.ledger.unpin(fedPiece.piece.flow.block.id);
    keep(state, fedPiece);
  }
}

/** The task is no longer fed; a later attempt is fed from the beginning. */
export function stopFeeding(state: State, task: TaskState): void {
  const { feed } = task.input;
  if (feed === null) return;
  for (const { piece } of feed.inFlight.flat()) state.ledger.unpin(piece.flow.block.id);
  feed.inFlight.length = 0;
  feed.next = 0;
  feed.bytes = 0;
  feed.ended = false;
}

export function dropFed(state: State, pieces: FedPiece[]): void {
  for (const { piece, isKept } of pieces.splice(0)) {
    if (isKept) state.ledger.release(piece.flow.block.id, piece.flow.origin.job.holders.kept);
    else {
      taken(piece);
      drop(state, piece, holderOf(piece.flow));
    }
  }
}

/** Releases what was gathered for tasks that will not be formed. */
export function dropGathered(state: State, operator: OperatorState): void {
  const { fed } = operator.input;
  if (fed === null) return;
  if (fed.gather.kind === "all") {
    if (operator.input.nextIndex === 0) dropFed(state, fed.pools[0] ?? []);
    return;
  }
  const left = fed.inputs === null ? fed.pools : fed.inputs.slice(operator.input.nextIndex);
  for (const pieces of left) dropFed(state, pieces);
}

/** Whether the task runs and waits for input: for its producers, or (`isHungry`) for a block on disk. */
export function isStarving({ input: { feed }, worker, asking, cancel: { at: cancelledAt } }: TaskState): boolean {
  return (
    worker !== null &&
    feed !== null &&
    cancelledAt === null &&
    asking === null &&
    !feed.ended &&
    feed.inFlight.length === 0
  );
}

export function isHungry(task: TaskState): boolean {
  return isStarving(task) && task.input.feed !== null && task.input.feed.next < task.input.feed.queue.length;
}
