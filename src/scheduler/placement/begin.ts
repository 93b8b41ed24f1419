/** A task gets its worker. Its job no longer waits for one. */

import type { TaskOperator } from "../../protocol/index.ts";
import { startTask } from "../jobs/index.ts";
import type { State, TaskState, WorkerState } from "../state/index.ts";

export function begin(state: State, task: TaskState, spec: TaskOperator, worker: WorkerState): void {
  startTask(state, task, spec, worker);
  task.operator.job.placement.waitsSince = null;
}
