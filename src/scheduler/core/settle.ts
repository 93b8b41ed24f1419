/** What follows from an event: called after each one, until nothing changes any more. */
import type { Milliseconds } from "../../protocol/index.ts";
import { deliverOutput, feedTask, yields } from "../flow/index.ts";
import { askForWays, endFailing, settleJob, tellProgress } from "../jobs/index.ts";
import {
  answerProgram,
  dismiss,
  lower,
  replaceUnfit,
  reportPauses,
  settleAlone,
  settleLease,
  settleShare,
  settleTrials,
  settleTrims,
  stopping,
  withoutTask,
} from "../memory/index.ts";
import { endResting, failIfNoneIsLeft } from "../oom/index.ts";
import { moveTask } from "../phases/index.ts";
import { dispatch, endStandingBack, grantRoom, resolveStall, startWide } from "../placement/index.ts";
import { hangingStarts, releaseDue, replenish, settleFirstWorkers } from "../starts/index.ts";
import { CANCEL_GRACE, isWide, type State, type TaskState, YIELD_GRACE } from "../state/index.ts";
import { forgetReservedRoom, spillOverTarget } from "../store/index.ts";

export function settle(state: State): void {
  endResting(state);
  // Leases come first: otherwise tasks that ask for room would always get the lent memory.
  settleLease(state);
  settleShare(state);
  answerProgram(state);
  releaseDue(state);
  failIfNoneIsLeft(state);
  reportPauses(state);
  settleTrials(state);
  settleTrims(state);
  replaceUnfit(state);
  let jobs: number;
  do {
    do {
      endFailing(state);
      forgetReservedRoom(state);
      endStandingBack(state);
      for (const task of state.phases.feeding) if (!yields(state, task)) feedTask(state, task, "cold");
      for (const job of state.jobs.values()) {
        deliverOutput(state, job);
        askForWays(state, job);
      }
      // Before room is given: an operator that must wait for the kernel no longer holds up tasks that ask for room.
      startWide(state);
      grantRoom(state);
      // Before tasks start: a task that starts in a worker keeps it, and the next task would do the same.
      lower(state);
      dispatch(state);
      spillOverTarget(state);
    } while (state.phases.failing.length > 0 || resolveStall(state));
    jobs = state.jobs.size;
    for (const job of state.jobs.values()) settleJob(state, job);
    // Another job may wait for what an ended job has released.
  } while (state.jobs.size < jobs);
  for (const job of state.jobs.values()) tellProgress(state, job);
  for (const task of state.phases.cancelling) {
    const { worker } = task;
    if (state.now < cancelDeadline(task)) {
      // The wide kernel's task has more time to answer than the other cancelled tasks.
      if (isWide(task.operator)) continue;
      break;
    }
    moveTask(state, task, "killing");
    if (worker !== null) state.commands.push({ type: "kill", worker: worker.id, reason: "unresponsive" });
  }
  settleAlone(state);
  dismissExtraWorkers(state);
  for (const worker of hangingStarts(state)) {
    stopping(state, worker);
    state.commands.push({ type: "kill", worker: worker.id, reason: "neverConnected" });
  }
  replenish(state);
  settleFirstWorkers(state);
}

export function cancelDeadline({ cancel: { at: cancelledAt, standsBack }, operator }: TaskState): Milliseconds {
  return (cancelledAt ?? 0) + (standsBack && isWide(operator) ? YIELD_GRACE : CANCEL_GRACE);
}

function dismissExtraWorkers(state: State): void {
  if (state.workers.size <= state.options.workers) return;
  let extra = state.workers.size - state.options.workers;
  for (const worker of state.workers.values()) if (worker.phase === "stopping") extra -= 1;
  for (const worker of withoutTask(state)) {
    if (extra <= 0) return;
    if (worker.knows.size > 0) continue;
    extra -= 1;
    dismiss(state, worker);
  }
}
