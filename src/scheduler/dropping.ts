/** A task that is over lets go of what it read. */

import { dropFed } from "./fed.ts";
import { dropHidden } from "./hidden.ts";
import { moveTask } from "./phases/task.ts";
import { drop } from "./pieces.ts";
import { unpinAll } from "./pins.ts";
import type { State, TaskState } from "./state.ts";

/** The task will not run, or has run: what it read may go. */
export function dropTask(state: State, task: TaskState): void {
  moveTask(state, task, "over");
  unpinAll(state, task);
  for (const piece of task.pieces) drop(state, piece, task.operator.job.taskHolder);
  dropHidden(state, task);
  if (task.feed !== null) dropFed(state, task.feed.queue);
}
