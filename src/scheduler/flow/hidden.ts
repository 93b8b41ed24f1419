/** The output of a wide task, which nobody sees before the task is done. */

import type { Piece, State, TaskState } from "../state/index.ts";
import { holderOf } from "./pieces.ts";

/** The block is not handed on yet. It does not flow: while it waits for the others it may go to disk. */
export function hide(state: State, task: TaskState, piece: Piece): void {
  const { operator } = task;
  state.ledger.pass(piece.flow.block.id, operator.job.holder, holderOf(piece.flow));
  task.hidden.push(piece);
}

/** Throws away what the attempt has made. */
export function dropHidden(state: State, task: TaskState): void {
  const { operator, hidden } = task;
  if (hidden.length === 0) return;
  operator.figures.blocks -= hidden.length;
  task.handedOver.length = 0;
  task.bytesOut = 0;
  for (const { flow } of hidden.splice(0)) state.ledger.release(flow.block.id, holderOf(flow));
}
