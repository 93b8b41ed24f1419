/** A task is to be run, once more or for the first time. */

import { moveTask } from "../phases/index.ts";
import type { State, TaskState } from "../state/index.ts";
import { dropHidden } from "./hidden.ts";

/** The task waits for a worker, with what it has pinned. */
export function comesAgain(state: State, task: TaskState): void {
  dropHidden(state, task);
  moveTask(state, task, "waiting");
}
