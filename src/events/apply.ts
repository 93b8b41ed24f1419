/**
 * The reducer: `apply(state, event)` is the one way from events to a state, for live observers, for the supervisor's
 * own copy and for whoever reads a session's file. It changes the state in place, because there may be thousands of
 * events a second. An event about something unknown is no error: a file may begin in the middle.
 */
import type { JobId, Milliseconds, OperatorPlan, RecordedEvent, TaskEvent, TaskId } from "../protocol/index.ts";
import { applyBlock } from "./apply-block.ts";
import { type JobView, type OperatorTotals, operatorOf, type SessionState, type TaskView } from "./state.ts";
import { addTask, bucketAt } from "./timeline.ts";

/** Ended jobs that are kept; a pipeline has a job for each of its windows. */
const KEPT_JOBS = 1_000;
/**
 * Kills, retries and notices that are kept: far more than anybody reads, and a bound for a session that runs for
 * months.
 */
const KEPT_HAPPENED = 20_000;

type Of<Type extends RecordedEvent["type"]> = Extract<RecordedEvent, { type: Type }>;

export function apply(state: SessionState, event: RecordedEvent): SessionState {
  state.at = Math.max(state.at, event.at);
  switch (event.type) {
    case "task":
      moveTask(state, event);
      break;
    case "taskFormed":
      formTask(state, event);
      break;
    case "taskDone":
      taskDone(state, event);
      break;
    case "taskFailed":
      totalsOf(state, event.task, (totals) => {
        totals.failed += 1;
      });
      happened(state, event);
      break;
    case "retry":
      totalsOf(state, event.task, (totals) => {
        totals.retries += 1;
      });
      happened(state, event);
      break;
    case "oomRetry":
      totalsOf(state, event.task, (totals) => {
        totals.oomRetries += 1;
      });
      happened(state, event);
      break;
    case "blockMade":
    case "block":
    case "blockDelivered":
    case "blockFreed":
      applyBlock(state, event);
      break;
    case "heldBack":
      holdBack(state, event);
      break;
    case "memory":
      readMemory(state, event);
      break;
    case "node": {
      const { used, total } = event;
      state.node = { used, total };
      const bucket = bucketAt(state.timeline, event.at);
      bucket.nodeUsed = Math.max(bucket.nodeUsed, used);
      break;
    }
    case "workerStarting":
    case "worker":
    case "workerGone":
      applyWorker(state, event);
      break;
    case "jobStarted":
    case "job":
    case "jobFinished":
    case "jobFailed":
    case "operatorEnded":
      applyJob(state, event);
      break;
    case "sessionStarted":
      state.session = event;
      break;
    case "sessionEnded":
      state.hasEnded = true;
      break;
    case "notice":
    case "pressure":
    case "pausedTooLong":
    case "monitorKill":
    case "workerDied":
    case "recycled":
    case "trimmed":
    case "memoryLimit":
    case "rebalanced":
      happened(state, event);
      break;
  }
  return state;
}

function happened(state: SessionState, event: RecordedEvent): void {
  state.happened.push(event);
  if (state.happened.length <= KEPT_HAPPENED) return;
  // Many at once: to move all others for each one would cost a session with many of them dearly.
  state.happened.splice(0, KEPT_HAPPENED / 10);
  state.happenedBefore += KEPT_HAPPENED / 10;
}

function formTask(
  state: SessionState,
  event: Extract<TaskEvent, { type: "taskFormed" }> & { readonly at: number },
): void {
  const { task: id, job, operator, index, bytesIn, repairs, at } = event;
  const isRepair = repairs !== undefined;
  state.tasks.set(id, {
    id,
    job,
    operator,
    index,
    bytesIn,
    isRepair,
    phase: "unplaced",
    since: at,
    startedAt: null,
    worker: null,
  });
  const totals = operatorOf(state, job, operator);
  if (totals !== undefined && !isRepair) totals.formed += 1;
}

function moveTask(state: SessionState, { task: id, to, worker, at }: Of<"task">): void {
  const task = state.tasks.get(id);
  if (task === undefined) return;
  if (worker !== undefined) begin(state, task, at, worker);
  else if (to === "unplaced") leave(state, task);
  if (to === "over") {
    state.tasks.delete(id);
    return;
  }
  task.phase = to;
  task.since = at;
}

function begin(state: SessionState, task: TaskView, at: Milliseconds, worker: NonNullable<TaskView["worker"]>): void {
  task.worker = worker;
  task.startedAt = at;
  const view = state.workers.get(worker);
  if (view !== undefined) view.task = task.id;
  const totals = operatorOf(state, task.job, task.operator);
  if (totals !== undefined) totals.running += 1;
}

function leave(state: SessionState, task: TaskView): void {
  if (task.worker === null) return;
  const view = state.workers.get(task.worker);
  if (view?.task === task.id) view.task = null;
  const totals = operatorOf(state, task.job, task.operator);
  if (totals !== undefined) totals.running -= 1;
  task.worker = null;
}

function taskDone(state: SessionState, event: Of<"taskDone">): void {
  const task = state.tasks.get(event.task);
  if (task === undefined) return;
  addTask(bucketAt(state.timeline, event.at), task.job, task.operator, event);
  const totals = operatorOf(state, task.job, task.operator);
  if (totals === undefined) return;
  totals.tasksDone += 1;
  totals.rowsIn += event.rowsIn;
  totals.rowsOut += event.rowsOut;
  totals.bytesOut += event.bytesOut;
  totals.wall += event.wall;
  totals.longest = Math.max(totals.longest, event.wall);
  totals.cpu += event.cpu;
  totals.errored += event.errored;
  totals.peakMemory = Math.max(totals.peakMemory, event.peakMemory);
}

function holdBack(state: SessionState, { job, operator, policy, at }: Of<"heldBack">): void {
  const totals = operatorOf(state, job, operator);
  if (totals === undefined) return;
  settleHold(totals, at);
  totals.heldBy = policy;
  totals.heldSince = at;
}

function settleHold(totals: OperatorTotals, at: Milliseconds): void {
  const { heldBy, heldSince, heldBack } = totals;
  if (heldBy !== null) heldBack[heldBy] = (heldBack[heldBy] ?? 0) + at - heldSince;
}

function readMemory(state: SessionState, event: Of<"memory">): void {
  const { at, supervisor, program, store, workers } = event;
  state.memory = { at, supervisor, program, store };
  let own = supervisor.private + program.private;
  for (const reading of workers) {
    own += reading.private;
    const worker = state.workers.get(reading.worker);
    if (worker !== undefined) worker.reading = reading;
  }
  const bucket = bucketAt(state.timeline, at);
  bucket.resident = Math.max(bucket.resident, store.resident);
  bucket.privateBytes = Math.max(bucket.privateBytes, own);
}

function applyWorker(state: SessionState, event: Of<"workerStarting" | "worker" | "workerGone">): void {
  const { worker: id, at } = event;
  if (event.type === "workerStarting") {
    const { kind, limit } = event;
    state.workers.set(id, {
      id,
      kind,
      limit,
      startedAt: at,
      pid: null,
      phase: "starting",
      since: at,
      task: null,
      reading: null,
    });
    return;
  }
  if (event.type === "workerGone") {
    state.workers.delete(id);
    if (event.reason === "asked") return;
    bucketAt(state.timeline, at).kills += 1;
    happened(state, event);
    return;
  }
  const worker = state.workers.get(id);
  if (worker === undefined) return;
  worker.phase = event.to;
  worker.since = at;
  if (event.pid !== undefined) worker.pid = event.pid;
}

function applyJob(
  state: SessionState,
  event: Of<"jobStarted" | "job" | "jobFinished" | "jobFailed" | "operatorEnded">,
): void {
  const { job: id, at } = event;
  if (event.type === "jobStarted") {
    state.jobs.set(id, startedJob(id, at, event.operators));
    return;
  }
  if (event.type === "jobFailed") happened(state, event);
  const job = state.jobs.get(id);
  if (job === undefined) return;
  switch (event.type) {
    case "operatorEnded": {
      const totals = operatorOf(state, id, event.operator);
      if (totals !== undefined) totals.ended = true;
      return;
    }
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

function endJob(state: SessionState, job: JobView, at: Milliseconds): void {
  job.endedAt = at;
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

function startedJob(id: JobId, at: Milliseconds, plans: readonly OperatorPlan[]): JobView {
  return {
    id,
    startedAt: at,
    phase: "running",
    endedAt: null,
    outcome: null,
    error: null,
    rows: null,
    rowsDelivered: 0,
    operators: plans.map(noTotals),
  };
}

function noTotals(plan: OperatorPlan): OperatorTotals {
  return {
    plan,
    ended: false,
    formed: 0,
    running: 0,
    tasksDone: 0,
    failed: 0,
    retries: 0,
    oomRetries: 0,
    rowsIn: 0,
    rowsOut: 0,
    bytesOut: 0,
    wall: 0,
    longest: 0,
    cpu: 0,
    errored: 0,
    peakMemory: 0,
    blocks: 0,
    blockBytes: 0,
    heldBy: null,
    heldSince: 0,
    heldBack: {},
  };
}

function totalsOf(state: SessionState, id: TaskId, change: (totals: OperatorTotals) => void): void {
  const task = state.tasks.get(id);
  if (task === undefined) return;
  const totals = operatorOf(state, task.job, task.operator);
  if (totals !== undefined) change(totals);
}
