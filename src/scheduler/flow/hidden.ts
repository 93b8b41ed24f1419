/** The output of a wide task, which nobody sees before the task is done. */

import { note, type Piece, type State, type TaskState } from "../state/index.ts";
import { holderOf } from "./pieces.ts";

/** The block is not handed on yet. It does not flow: while it waits for the others it may go to disk. */
export function hide(state: State, task: TaskState, piece: Piece): void {
  const { operator } = task;
  state.ledger.pass(piece.flow.block.id, operator.job.holders.queues, holderOf(piece.flow));
  task.output.hidden.push(piece);
}

/** Throws away what the attempt has made. */
export function dropHidden(state: State, task: TaskState): void {
  const { hidden } = task.output;
  if (hidden.length === 0) return;
  note(state, { type: "outputDropped", task: task.id, blocks: hidden.length });
  task.output.handedOver.length = 0;
  task.output.bytesOut = 0;
  for (const { flow } of hidden.splice(0)) state.ledger.release(flow.block.id, holderOf(flow));
}
