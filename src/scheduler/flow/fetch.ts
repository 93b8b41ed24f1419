/**
 * Blocks on their way back from disk, for their next readers: the program, and tasks. A task whose input is on disk is
 * formed early and pins each block as it comes; when all are there it may start. As many tasks are fetched ahead as
 * there are workers, so that disks and workers are busy at the same time.
 */

import type { WireError } from "../../errors/index.ts";
import type { BlockId } from "../../protocol/index.ts";
import { isFailing } from "../phases/index.ts";
import type { State, TaskState } from "../state/index.ts";
import { type Leaving, restore, restoreDamaged, restoreDone } from "../store/index.ts";
import { comesAgain } from "./again.ts";
import { yields } from "./cancel.ts";
import { isPinned } from "./pins.ts";
import { repair } from "./repair.ts";

const MAX_RESTORES = 4;

/** One at a time while a worker is paused (K6). */
function mostRestores({ memory: { paused } }: State): number {
  return paused.size > 0 ? 1 : MAX_RESTORES;
}

/** Asks for the block to come back, unless it is on its way; true if the block, or room for it, is on its way. */
export function bringBack(state: State, id: BlockId, leaving: Leaving = "cold"): boolean {
  const { ledger, store: disk } = state;
  if (ledger.stateOf(id) === "lost") repair(state, id);
  if (ledger.stateOf(id) !== "spilled" || disk.restoring.size >= mostRestores(state)) return true;
  if (disk.refusal?.isReading === true && state.now < disk.refusal.retryAt) return true;
  return restore(state, id, leaving);
}

/** True if more of its input comes, or is there. */
export function advance(state: State, task: TaskState, leaving: Leaving): boolean {
  let moves = true;
  for (const [i, id] of task.input.blocks.entries()) {
    // A block that is lost for good fails the job.
    if (isFailing(task.operator.job)) return true;
    if (task.input.pins[i] !== null) continue;
    if (state.ledger.isInMemory(id)) task.input.pins[i] = state.ledger.pin(id);
    else moves = bringBack(state, id, leaving) && moves;
  }
  if (isPinned(task)) comesAgain(state, task);
  return moves;
}

export function blockRestored(state: State, id: BlockId): void {
  restoreDone(state, id);
  // Pinned now, before another task's need for room can send it to disk again.
  for (const task of state.phases.fetching) if (!yields(state, task)) pinOne(state, task, id);
}

function pinOne(state: State, task: TaskState, id: BlockId): void {
  const at = task.input.blocks.indexOf(id);
  if (at !== -1 && task.input.pins[at] === null) task.input.pins[at] = state.ledger.pin(id);
}

export function blockDamaged(state: State, id: BlockId, error: WireError): void {
  if (!restoreDamaged(state, id)) return;
  state.flow.lost.set(id, { error, isBeingMade: false });
  repair(state, id);
}
