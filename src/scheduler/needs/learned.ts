/** What the tasks of an operator ask for, as learned from tasks that ran out of memory. */
import type { Bytes, LearnedNeed } from "../../protocol/index.ts";
import type { OperatorState, State } from "../state/index.ts";
import { isWide, Resources } from "../state/index.ts";

/** What the operator's tasks ask for from now on. */
export function learn(state: State, operator: OperatorState, need: LearnedNeed | null): void {
  const { spec } = operator;
  if (need === null || spec.kind !== "tasks" || isWide(operator)) return;
  operator.needs.learned = need;
  if (need.alone) state.alone.add(operator);
  const { cpu, memory } = spec.request;
  const learned = need.atOnce === null || need.memory === null ? 0 : Math.min(need.memory, roomForTasks(state));
  // A task that is alone needs no more reserved.
  operator.needs.request = new Resources({ cpu, memory: need.alone ? memory : Math.max(memory, learned) });
}

/** A kernel ran out of memory for one of its tasks: alone, they get all that there is. */
export function kernelRanOut({ needs }: OperatorState): void {
  needs.kernelRanOut = true;
}

/** The operator has ended, so none of its tasks must run alone any more. */
export function forgetAlone(state: State, operator: OperatorState): void {
  state.alone.delete(operator);
}

/** What tasks can have together: all but the store, the program and the supervisor. */
export function roomForTasks({ memory: { lease, share }, ledger, resources: { total } }: State): Bytes {
  if (lease === null) return total.memory;
  const { memory, overhead } = lease.pool;
  return Math.max(0, Math.min(total.memory, Math.min(memory, share.inForce.memory) - overhead - ledger.inForce));
}
