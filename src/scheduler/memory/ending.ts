/** Workers that are ended from here for the sake of memory, from the order to the end of the process. */

import { moveTask } from "../phases/index.ts";
import type { State, WorkerState } from "../state/index.ts";
import { stopping } from "./workers.ts";

/** It is given nothing more; its task has it until `workerGone` says that it is no more. */
export function endWorker(state: State, worker: WorkerState, why: string): void {
  stopping(state, worker);
  worker.endedFor = why;
  state.ending.add(worker);
  if (worker.task?.phase === "asking") moveTask(state, worker.task, "running");
}
