/** Rows of blocks in the queues of a job: the reference that each piece holds in the ledger, and what becomes of it. */
import type { Bytes } from "../../protocol/index.ts";
import { type Holder, wholePages } from "../../store/index.ts";
import type { Flow, OperatorState, Piece, State } from "../state/index.ts";

/** A consumer has taken the piece, which no longer counts as undelivered output of its producer. */
export function taken(piece: Piece): void {
  piece.from.output.queuedBlocks -= 1;
}

/** A part of a piece that was taken is first in the queue again, with a reference of its own. */
export function putBack(state: State, operator: OperatorState, piece: Piece): void {
  state.ledger.retain(piece.flow.block.id, holderOf(piece.flow));
  piece.flow.uses += 1;
  piece.from.output.queuedBlocks += 1;
  operator.input.ready.unshift(piece);
  operator.input.readyRows += piece.end - piece.start;
  operator.input.readyBytes += bytesOf(piece);
}

/** The piece leaves the job, and with it one reference. */
export function drop(state: State, piece: Piece, holder: Holder): void {
  state.ledger.release(piece.flow.block.id, holder);
  departed(piece.flow);
}

export function departed(flow: Flow): void {
  flow.uses -= 1;
  if (flow.uses === 0 && !flow.rests) flow.origin.budget.liveBytes -= wholePages(flow.block.length);
}

export function bytesOf(piece: Piece): Bytes {
  return wholePages(piece.flow.block.length);
}

/** The holder of the reference of a queued piece. */
export function holderOf({ rests, origin: { job } }: Flow): Holder {
  return rests ? job.holders.kept : job.holders.queues;
}
