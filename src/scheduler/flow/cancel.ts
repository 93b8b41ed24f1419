/** Tasks that are asked to end: for good, or to stand back for another task and to be run again later. */
import { moveTask } from "../phases/index.ts";
import { type State, send, type TaskState } from "../state/index.ts";

export function cancelTask(state: State, task: TaskState): void {
  if (task.cancel.at !== null || task.worker === null) return;
  task.cancel.at = state.now;
  moveTask(state, task, "cancelling");
  send(state, task.worker, { type: "cancel", task: task.id });
}

/** Cancels a task only to make room: it is run again when there is more room. */
export function standBack(state: State, task: TaskState): void {
  task.cancel.standsBack = true;
  cancelTask(state, task);
}

/** The task has stood back and will run again. */
export function goesOnLater({ cancel }: TaskState): void {
  cancel.standsBack = false;
  cancel.at = null;
}

/** This task takes nothing before another task is over. */
export function yields({ placement: { yieldsTo } }: State, task: TaskState | null): boolean {
  return yieldsTo !== null && yieldsTo !== task;
}
