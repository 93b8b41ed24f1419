/**
 * Room in the store that a task was granted for its next block, until the task has written the block or given the room
 * back.
 */
import type { ArenaRange, Bytes } from "../../protocol/index.ts";
import { wholePages } from "../../store/index.ts";
import type { OperatorState, State, TaskState } from "../state/index.ts";

/** Remembers the largest block that the operator's tasks asked for: promises depend on it. */
export function askedFor({ budget }: OperatorState, bytes: Bytes): void {
  budget.largestReservation = Math.max(budget.largestReservation, bytes);
}

export function grantRange({ operator: { budget }, output }: TaskState, range: ArenaRange): void {
  output.granted = range;
  budget.liveBytes += range.length;
  budget.grantedBytes += range.length;
  budget.grantedTasks += 1;
}

/** The block is written, so the unused part of its range is free. */
export function grantUsed(
  { operator: { budget }, output }: TaskState,
  range: ArenaRange,
  block: { readonly rows: number; readonly length: Bytes; readonly checksum: number },
): void {
  takeBack(output, budget);
  const bytes = wholePages(block.length);
  budget.liveBytes -= range.length - bytes;
  output.bytesOut += bytes;
  budget.estimate.grew(output, bytes);
  output.handedOver.push(block);
}

/** The task has ended or is no longer wanted, so a range without a sealed block is free again. */
export function giveBackGrant(state: State, { operator: { budget }, output }: TaskState): void {
  const { granted } = output;
  if (granted === null) return;
  takeBack(output, budget);
  budget.liveBytes -= granted.length;
  state.ledger.abandon(granted);
}

function takeBack(output: TaskState["output"], budget: OperatorState["budget"]): void {
  budget.grantedBytes -= output.granted?.length ?? 0;
  budget.grantedTasks -= 1;
  output.granted = null;
}
