/** Queues a task to be run, for the first time or again. */

import { moveTask } from "../phases/index.ts";
import type { State, TaskState } from "../state/index.ts";
import { dropHidden } from "./hidden.ts";

/** The task waits for a worker and keeps its pinned blocks. */
export function comesAgain(state: State, task: TaskState): void {
  dropHidden(state, task);
  moveTask(state, task, "waiting");
}
