/**
 * What running tasks have of the session's cores and memory: taken when a task starts, given back when it leaves its
 * worker, however it ends. A task starts only where all that it asks for is free.
 */
import { Resources } from "./resources.ts";
import type { OperatorState, State, TaskState } from "./state.ts";

/**
 * `waiting`: everything stands still, so cores of tasks that wait for room in the store are free in truth, and what
 * would make them go on may have them.
 */
export function isFree(state: State, operator: OperatorState, waiting: "count" | "overlook"): boolean {
  let { used } = state;
  if (waiting === "overlook") {
    for (const task of state.asking) used = used.subtract(new Resources({ cpu: task.operator.request.cpu }));
  }
  return operator.request.add(used).fits(state.total);
}

export function claim(state: State, { operator }: TaskState): void {
  state.used = state.used.add(operator.request);
}

export function giveBack(state: State, { operator }: TaskState): void {
  state.used = state.used.subtract(operator.request);
}
