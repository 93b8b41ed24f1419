/** A task that is over releases what it read. */

import { moveTask } from "../phases/index.ts";
import type { State, TaskState } from "../state/index.ts";
import { dropFed } from "./fed.ts";
import { dropHidden } from "./hidden.ts";
import { drop } from "./pieces.ts";
import { unpinAll } from "./pins.ts";

/** The task will not run, or has run: its input may be released. */
export function dropTask(state: State, task: TaskState): void {
  moveTask(state, task, "over");
  unpinAll(state, task);
  for (const piece of task.input.pieces) drop(state, piece, task.operator.job.holders.tasks);
  dropHidden(state, task);
  if (task.input.feed !== null) dropFed(state, task.input.feed.queue);
}
