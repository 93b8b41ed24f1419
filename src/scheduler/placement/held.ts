/**
 * Which policy holds each operator back, and for how long. Looked at after every event, when all that could go on has
 * gone on: whoever still waits is held back until the next event, and the time between is written down.
 */
import type { Milliseconds } from "../../protocol/index.ts";
import { wholePages } from "../../store/index.ts";
import { isRunnable, nextIndex } from "../flow/index.ts";
import { concurrencyCap, resourceBudget, roomPolicies } from "../policies/index.ts";
import { isFree } from "../resources/index.ts";
import type { OperatorState, State } from "../state/index.ts";
import { hasRoomToStart } from "./room.ts";
import { isHeadTask, viewOf } from "./view.ts";
import { isHeldUp } from "./wide-turn.ts";

const ALL = [concurrencyCap, ...roomPolicies];
/** No policy, but named beside them: another job's task has it. */
const WIDE_KERNEL = "WideKernel";

/** So much time has passed with everything as it was noted. */
export function passTime(state: State, elapsed: Milliseconds): void {
  if (elapsed <= 0) return;
  for (const job of state.jobs.values()) {
    for (const { heldBy, figures } of job.operators) if (heldBy !== null) figures.heldBack(heldBy, elapsed);
  }
}

export function noteHeldBack(state: State): void {
  for (const job of state.jobs.values()) {
    for (const operator of job.operators) {
      operator.heldBy = job.phase === "running" && !operator.ended ? heldBy(state, operator) : null;
    }
  }
}

/** The name of the policy, or of what it waits for; null where the operator works, has nothing to do, or only lacks a worker. */
function heldBy(state: State, operator: OperatorState): string | null {
  for (const { asking, index } of operator.asking) {
    if (asking === null) continue;
    const view = viewOf(state, operator, isHeadTask(operator, index));
    // A store that is full is a budget that is used up.
    return (roomPolicies.find((policy) => !policy.mayWrite(view, wholePages(asking.bytes))) ?? resourceBudget).name;
  }
  if (isHeldUp(state, operator)) return WIDE_KERNEL;
  if (state.idle.size === 0 || !isRunnable(state, operator, false)) return null;
  const index = nextIndex(operator);
  const view = viewOf(state, operator, isHeadTask(operator, index));
  const holding = ALL.find((policy) => !policy.mayStart(view));
  if (holding !== undefined) return holding.name;
  const hasRoom = hasRoomToStart(state, operator, index) && isFree(state, operator, "count");
  return hasRoom ? null : resourceBudget.name;
}
