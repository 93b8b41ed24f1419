/**
 * Which policy holds each operator back, and for how long. Worked out after every event, when everything that could
 * start has started: an operator that still waits is held back until the next event, and that time is counted.
 */
import type { Milliseconds } from "../../protocol/index.ts";
import { wholePages } from "../../store/index.ts";
import { isRunnable, nextIndex } from "../flow/index.ts";
import { concurrencyCap, resourceBudget, roomPolicies } from "../policies/index.ts";
import { isFree } from "../resources/index.ts";
import { note, type OperatorState, type State } from "../state/index.ts";
import { hasRoomToStart } from "./room.ts";
import { isHeadTask, viewOf } from "./view.ts";
import { isHeldUp } from "./wide-turn.ts";

const ALL = [concurrencyCap, ...roomPolicies];
/** Not a policy, but shown beside them: another job's task has the wide kernel. */
const WIDE_KERNEL = "WideKernel";

/** Counts the time since the last event for the policies that were noted then. */
export function passTime(state: State, elapsed: Milliseconds): void {
  if (elapsed <= 0) return;
  for (const job of state.jobs.values()) {
    for (const { heldBy, figures } of job.operators) if (heldBy !== null) figures.heldBack(heldBy, elapsed);
  }
}

export function noteHeldBack(state: State): void {
  for (const job of state.jobs.values()) {
    for (const operator of job.operators) {
      const policy = job.phase === "running" && !operator.ended ? heldBy(state, operator) : null;
      if (policy === operator.heldBy) continue;
      operator.heldBy = policy;
      note(state, { type: "heldBack", job: job.id, operator: operator.spec.id, policy });
    }
  }
}

/**
 * The name of the policy, or of what the operator waits for; null if it works, has nothing to do, or only lacks a
 * worker.
 */
function heldBy(state: State, operator: OperatorState): string | null {
  for (const { asking, index } of operator.phases.asking) {
    if (asking === null) continue;
    const view = viewOf(state, operator, isHeadTask(operator, index));
    // A full store counts as a used-up budget.
    return (roomPolicies.find((policy) => !policy.mayWrite(view, wholePages(asking.bytes))) ?? resourceBudget).name;
  }
  if (isHeldUp(state, operator)) return WIDE_KERNEL;
  if (state.phases.idle.size === 0 || !isRunnable(state, operator, false)) return null;
  const index = nextIndex(operator);
  const view = viewOf(state, operator, isHeadTask(operator, index));
  const holding = ALL.find((policy) => !policy.mayStart(view));
  if (holding !== undefined) return holding.name;
  const hasRoom = hasRoomToStart(state, operator, index) && isFree(state, operator, "count");
  return hasRoom ? null : resourceBudget.name;
}
