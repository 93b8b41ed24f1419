/** Rows of blocks in the queues of a job: the reference that each piece holds in the ledger, and what becomes of it. */
import type { Bytes } from "../../protocol/index.ts";
import { type Holder, wholePages } from "../../store/index.ts";
import type { Flow, OperatorState, Piece, State } from "../state/index.ts";

/** A consumer has taken the piece: the producer has one fewer undelivered. */
export function taken(piece: Piece): void {
  piece.from.queuedBlocks -= 1;
  piece.from.queuedBytes -= bytesOf(piece);
}

/** A part of a piece that was taken is first in the queue again, with a reference of its own. */
export function putBack(state: State, operator: OperatorState, piece: Piece): void {
  state.ledger.retain(piece.flow.block.id, holderOf(piece.flow));
  piece.flow.uses += 1;
  piece.from.queuedBlocks += 1;
  piece.from.queuedBytes += bytesOf(piece);
  operator.ready.unshift(piece);
  operator.readyRows += piece.end - piece.start;
  operator.readyBytes += bytesOf(piece);
}

/** The piece leaves the job, and with it one reference. */
export function drop(state: State, piece: Piece, holder: Holder): void {
  state.ledger.release(piece.flow.block.id, holder);
  departed(piece.flow);
}

export function departed(flow: Flow): void {
  flow.uses -= 1;
  if (flow.uses === 0 && !flow.rests) flow.origin.liveBytes -= wholePages(flow.block.length);
}

export function bytesOf(piece: Piece): Bytes {
  return wholePages(piece.flow.block.length);
}

/** The holder of the reference of a queued piece. */
export function holderOf({ rests, origin: { job } }: Flow): Holder {
  return rests ? job.keptHolder : job.holder;
}
