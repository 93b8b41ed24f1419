/** Output blocks on their way to the program: as many as it has credit for, fetched from disk ahead of its reading. */
import type { ArenaRange, BlockId, BlockSlice } from "../../protocol/index.ts";
import { wholePages } from "../../store/index.ts";
import { type Edge, type JobState, note, outputOf, type State, tell } from "../state/index.ts";
import { bringBack } from "./fetch.ts";
import { bytesOf, departed, holderOf, taken } from "./pieces.ts";

/**
 * Share of the store that the program may read from without copying. A reader that has stopped keeps its blocks for any
 * time; several such readers would fill a small store with blocks that cannot leave.
 */
const UNREAD_SHARE = 1 / 4;

/** Blocks that are fetched for the program ahead of its reading. */
const MAX_AWAITED = 16;

/** The program can take this many more blocks. */
export function addCredit({ now }: State, { output }: JobState, blocks: number): void {
  output.credit += blocks;
  output.movedAt = now;
}

/** Hands the program the blocks that it has credit for; blocks on disk are fetched first. */
export function deliverOutput(state: State, job: JobState): void {
  const output = outputOf(job);
  while (job.output.credit > 0 && mayTakeMore(state, job, output)) {
    const delivery = deliver(state, output);
    if (delivery === null) break;
    const { slice, range } = delivery;
    job.output.credit -= 1;
    job.output.unread += 1;
    job.output.movedAt = state.now;
    const { id } = slice.block;
    state.flow.outputs.set(id, [...(state.flow.outputs.get(id) ?? []), job]);
    job.output.rowsDelivered += slice.end - slice.start;
    const isAlone = state.flow.unreadBytes === 0;
    state.flow.unreadBytes += wholePages(slice.block.length);
    const copy = !isAlone && state.flow.unreadBytes > state.ledger.inForce * UNREAD_SHARE;
    note(state, { type: "blockDelivered", block: slice.block.id, job: job.id, rows: slice.end - slice.start });
    tell(state, { type: "output", job: job.id, slice, range, copy });
  }
  job.output.readerIsFull = !mayTakeMore(state, job, output);
  if (job.output.readerIsFull || state.ledger.isAllInMemory) return;
  for (const id of awaited(job)) {
    if (!state.ledger.isInMemory(id)) bringBack(state, id);
    // In order: a later block would take the room that the next one waits for.
    if (state.ledger.stateOf(id) === "spilled") return;
  }
}

/** A reader has at least one block, and more where blocks are small: blocks that wait in the queue can leave memory. */
function mayTakeMore({ flow: { unreadBytes }, ledger }: State, job: JobState, output: Edge): boolean {
  const next = output.queue.peek();
  if (next === undefined || job.output.unread === 0) return true;
  return unreadBytes + bytesOf(next) <= ledger.inForce * UNREAD_SHARE;
}

/** The next output blocks that the program has credit for. */
export function awaited(job: JobState): readonly BlockId[] {
  const ids: BlockId[] = [];
  const most = job.output.readerIsFull ? 0 : Math.min(job.output.credit, MAX_AWAITED);
  if (most <= 0) return ids;
  for (const { flow } of outputOf(job).queue) {
    if (ids.length >= most) break;
    ids.push(flow.block.id);
  }
  return ids;
}

/** The program has read an output block and no longer needs it in memory; false if it has no such block. */
export function outputRead(state: State, id: BlockId): boolean {
  const jobs = state.flow.outputs.get(id);
  const job = jobs?.pop();
  if (job === undefined) return false;
  job.output.unread -= 1;
  state.flow.unreadBytes -= wholePages(state.ledger.lengthOf(id));
  job.output.movedAt = state.now;
  if (jobs?.length === 0) state.flow.outputs.delete(id);
  state.ledger.unpin(id);
  return true;
}

/**
 * Gives the program the next piece, pinned, with its reference. Null when there is no piece, or it is not in memory.
 */
function deliver(state: State, edge: Edge): { readonly slice: BlockSlice; readonly range: ArenaRange } | null {
  const piece = edge.queue.peek();
  if (piece === undefined || !state.ledger.isInMemory(piece.flow.block.id)) return null;
  edge.queue.shift();
  taken(piece);
  const { block } = piece.flow;
  const range = state.ledger.pin(block.id);
  state.ledger.pass(block.id, holderOf(piece.flow), "program");
  departed(piece.flow);
  return { slice: { block, start: piece.start, end: piece.end }, range };
}
