/**
 * Which policy holds each operator back. Worked out after every event, when everything that could start has started: an
 * operator that still waits is held back until another event says otherwise.
 */
import { wholePages } from "../../store/index.ts";
import { isRunnable } from "../flow/index.ts";
import {
  MEMORY_RETRY,
  resourceBudget,
  roomPolicies,
  startPolicies,
  WIDE_KERNEL,
  WORKER_PAUSE,
  WORKER_RESTART,
} from "../policies/index.ts";
import { areWorkersHeldBack } from "../starts/index.ts";
import { note, type OperatorState, type State } from "../state/index.ts";
import { startViewOf } from "./start-view.ts";
import { isHeadTask, viewOf } from "./view.ts";
import { isHeldUp } from "./wide-turn.ts";

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
 * The name of the policy that refuses the operator's next block or task; null if it works, has nothing to do, or only
 * lacks a worker because all are busy.
 */
function heldBy(state: State, operator: OperatorState): string | null {
  for (const { asking, index } of operator.phases.asking) {
    if (asking === null) continue;
    const view = viewOf(state, operator, isHeadTask(operator, index));
    // A full store counts as a used-up budget.
    return (roomPolicies.find((policy) => !policy.mayWrite(view, wholePages(asking.bytes))) ?? resourceBudget).name;
  }
  if (isHeldUp(state, operator)) return WIDE_KERNEL;
  const missing = state.phases.idle.size === 0 ? missingWorker(state) : null;
  if (state.phases.idle.size === 0 && missing === null) return null;
  if (!isRunnable(state, operator, false)) return rests(operator) ? MEMORY_RETRY : null;
  if (missing !== null) return missing;
  const view = startViewOf(state, operator);
  return startPolicies.find((policy) => !policy.mayStart(view))?.name ?? null;
}

function rests({ phases: { resting, running } }: OperatorState): boolean {
  return resting.size > 0 && running.size === 0;
}

/** Why there is no worker to give a task to, if not all of them are busy. */
function missingWorker(state: State): string | null {
  // All of these workers are missing from the set of idle workers: a worker without a task is paused, or being trimmed.
  for (const { phase } of state.memory.heavy) if (phase === "idle") return WORKER_PAUSE;
  return areWorkersHeldBack(state) ? WORKER_RESTART : null;
}
