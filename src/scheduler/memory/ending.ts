/** Workers that the scheduler ends to free memory, from the command to the end of the process. */

import { moveTask } from "../phases/index.ts";
import type { State, WorkerState } from "../state/index.ts";
import { stopping } from "./workers.ts";

/** The worker is given nothing more; its task stays with it until `workerGone`. */
export function endWorker(state: State, worker: WorkerState, why: string): void {
  stopping(state, worker);
  worker.memory.endedFor = why;
  state.memory.ending.add(worker);
  if (worker.task?.phase === "asking") moveTask(state, worker.task, "running");
}
