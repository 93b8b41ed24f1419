/** Jobs and their operators in the reducer. */
import {
  type Bytes,
  type JobId,
  type Milliseconds,
  NO_FIGURES,
  NO_MEMORY_YET,
  type OperatorEvent,
  type OperatorPlan,
  type RecordedEvent,
} from "../protocol/index.ts";
import { type Ends, type JobView, type OperatorTotals, operatorOf, type SessionState } from "./state.ts";

/** Ended jobs that are kept. A pipeline runs one job per window. */
const KEPT_JOBS = 1_000;

type Of<Type extends RecordedEvent["type"]> = Extract<RecordedEvent, { type: Type }>;

export function applyOperator(state: SessionState, event: OperatorEvent & { readonly at: Milliseconds }): void {
  const totals = operatorOf(state, event.job, event.operator);
  if (totals === undefined) return;
  switch (event.type) {
    case "operatorEnded":
      totals.ended = true;
      // What the tasks that it cuts short have handed over, `taskCut` says.
      Object.assign(totals.soFar, { rowsIn: 0, rowsOut: 0, bytesOut: 0 });
      return;
    case "heldBack":
      settleHold(totals, event.at);
      totals.heldBy = event.policy;
      totals.heldSince = event.at;
      return;
    case "tasksKnown":
      totals.tasks = event.tasks;
      return;
    case "slicePassed":
      totals.blocks += 1;
      totals.rowsOut += event.rows;
      return;
    case "learned":
      totals.learned = event.need;
      return;
    case "appetite":
      totals.appetite = event.appetite;
      return;
    case "way":
      if (event.to === "exchange") totals.isReplaced = true;
      return;
  }
}

function settleHold(totals: OperatorTotals, at: Milliseconds): void {
  const { heldBy, heldSince, heldBack } = totals;
  if (heldBy !== null) heldBack[heldBy] = (heldBack[heldBy] ?? 0) + at - heldSince;
}

export function applyJob(
  state: SessionState,
  event: Of<"jobStarted" | "operatorsAdded" | "job" | "jobFinished" | "jobFailed" | "kernelSpilled">,
): void {
  const { job: id, at } = event;
  if (event.type === "jobStarted") {
    const job = startedJob(id, at, event.operators, state.store.inMemory);
    state.jobs.set(id, job);
    state.running.add(job);
    return;
  }
  const job = state.jobs.get(id);
  if (job === undefined) return;
  switch (event.type) {
    case "operatorsAdded":
      job.operators.push(...event.operators.map(noTotals));
      return;
    case "kernelSpilled":
      job.kernelSpilled = Math.max(job.kernelSpilled, event.bytes);
      kernelSpilled(operatorOf(state, id, event.operator), event.bytes);
      return;
    case "jobFinished":
      job.outcome = "finished";
      job.rows = event.rows;
      return;
    case "jobFailed":
      job.outcome = event.error.name === "CancelledError" ? "cancelled" : "failed";
      job.error = event.error;
      return;
    case "job":
      job.phase = event.to;
      if (event.to === "gone") endJob(state, job, at);
      return;
  }
}

function kernelSpilled(totals: OperatorTotals | undefined, bytes: Bytes): void {
  if (totals !== undefined) totals.kernelSpilled = bytes;
}

function endJob(state: SessionState, job: JobView, at: Milliseconds): void {
  job.endedAt = at;
  state.running.delete(job);
  job.growth = {};
  job.outcome ??= "cancelled";
  for (const totals of job.operators) {
    settleHold(totals, at);
    totals.heldBy = null;
  }
  if (state.jobs.size <= KEPT_JOBS) return;
  for (const other of state.jobs.values()) {
    if (other.endedAt === null) continue;
    state.jobs.delete(other.id);
    state.jobsBefore += 1;
    return;
  }
}

function startedJob(id: JobId, at: Milliseconds, plans: readonly OperatorPlan[], peakStoreBytes: Bytes): JobView {
  return {
    id,
    startedAt: at,
    phase: "running",
    endedAt: null,
    outcome: null,
    error: null,
    rows: null,
    rowsDelivered: 0,
    ...NO_MEMORY_YET,
    kernelSpilled: 0,
    peakStoreBytes,
    growth: {},
    operators: plans.map(noTotals),
  };
}

function noTotals(plan: OperatorPlan): OperatorTotals {
  return {
    plan,
    ended: false,
    tasks: plan.tasks,
    formed: 0,
    running: 0,
    tasksDone: 0,
    tasksCut: 0,
    failed: 0,
    retries: 0,
    oomRetries: 0,
    ...NO_FIGURES,
    learned: plan.recipe?.learned ?? null,
    appetite: plan.recipe?.appetite == null ? null : { bytes: plan.recipe.appetite, from: "earlier" },
    ends: { rowsOut: noEnds(), bytesOut: noEnds(), wall: noEnds(), cpu: noEnds() },
    soFar: { rowsIn: 0, rowsOut: 0, bytesOut: 0 },
    startedAt: null,
    leftAt: 0,
    blocks: 0,
    blockBytes: 0,
    spilledBytes: 0,
    restoredBytes: 0,
    kernelSpilled: 0,
    byReference: null,
    heldBy: null,
    heldSince: 0,
    heldBack: {},
  };
}

function noEnds(): Ends {
  return { min: 0, max: 0 };
}
