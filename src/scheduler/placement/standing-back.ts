/**
 * Tasks that stand back for the task that everything waits for: what they keep in memory may go to disk, and they are
 * run again later.
 */
import { comesAgain, standBack, unpinAll } from "../flow/index.ts";
import { isPaused, type State, type TaskState } from "../state/index.ts";
import { firstWaiting, isUnderWay, waitsInItsOperator } from "./first-waiting.ts";
import { byUrgency } from "./view.ts";

/** The least urgent task that keeps something in memory stands back; never the one that everything waits for. */
export function letSomebodyStandBack(state: State): boolean {
  if (letSomebodyUnpin(state)) return true;
  const first = state.placement.yieldsTo;
  if (first === null) return false;
  const others = othersThan(state, first);
  // The task needs memory that others read or, if it only has to begin, the worker or the resources of any of them.
  const hasToBegin = waitsInItsOperator(first);
  const next = others.find((task) => task.asking !== null && (hasToBegin || task.input.blocks.length > 0));
  if (next === undefined) return false;
  standBack(state, next);
  return true;
}

/** Does the same with tasks that have not begun, which lose no work. */
export function letSomebodyUnpin(state: State): boolean {
  const { yieldsTo } = state.placement;
  const first = yieldsTo !== null && isUnderWay(yieldsTo) ? yieldsTo : firstWaiting(state);
  if (first === undefined) return false;
  state.placement.yieldsTo = first;
  for (const job of state.jobs.values()) {
    for (const { phases } of job.operators) {
      if (phases.again.some((task) => task !== first && unpinAll(state, task))) return true;
    }
  }
  return othersThan(state, first).some((task) => task.asking === null && unpinAll(state, task));
}

/** Tasks that wait with something in memory, the least urgent first. */
function othersThan(state: State, first: TaskState): readonly TaskState[] {
  const all = [...state.phases.askers]
    .flatMap(({ phases: { asking } }) => [...asking])
    .concat(...state.phases.fetching);
  return all.filter((task) => task !== first).sort((a, b) => byUrgency(b, a));
}

/**
 * Tasks that stood back are run again when the task they made way for is over, or the program has stopped reading its
 * job.
 */
export function endStandingBack(state: State): void {
  const { yieldsTo } = state.placement;
  if (yieldsTo === null) return;
  if (!isUnderWay(yieldsTo) || isPaused(yieldsTo.operator.job)) bringBackAside(state);
}

export function bringBackAside(state: State): boolean {
  let any = false;
  state.placement.yieldsTo = null;
  for (const job of state.jobs.values()) {
    for (const { phases } of job.operators) {
      any ||= phases.aside.size > 0;
      for (const task of phases.aside) comesAgain(state, task);
    }
  }
  return any;
}
