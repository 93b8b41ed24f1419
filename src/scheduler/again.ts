/** A task is to be run, once more or for the first time. */

import { dropHidden } from "./hidden.ts";
import { moveTask } from "./phases/task.ts";
import type { State, TaskState } from "./state.ts";

/** The task waits for a worker, with what it has pinned. */
export function comesAgain(state: State, task: TaskState): void {
  dropHidden(state, task);
  moveTask(state, task, "waiting");
}
