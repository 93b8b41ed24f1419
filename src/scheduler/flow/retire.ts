/** Workers forget an operator that has ended, and dispose of the instances of its classes. */

import { forgetOperator, instanceRetires } from "../phases/index.ts";
import { type OperatorState, type State, send, type WorkerState } from "../state/index.ts";
import { isThrough } from "./repair.ts";

/**
 * The operator has ended and none of its tasks runs: its workers dispose its instances and forget its functions. Only
 * the answer for a class is waited for: only a class has a dispose whose error matters.
 */
export function retire(state: State, operator: OperatorState): void {
  if (!isThrough(state, operator)) return;
  for (const worker of operator.phases.workers) retireFrom(state, operator, worker);
}

export function retireFrom(state: State, operator: OperatorState, worker: WorkerState): void {
  forgetOperator(worker, operator);
  if (operator.isClass) instanceRetires(operator, worker);
  send(state, worker, { type: "retire", job: operator.job.id, operator: operator.spec.id });
}
