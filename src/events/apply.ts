/**
 * The reducer. `apply(state, event)` is the only way from events to a state: live observers, the supervisor's own copy
 * and readers of event files all use it. It changes the state in place, because there may be thousands of events a
 * second. An event about something unknown is ignored: a file may begin in the middle.
 */
import { grownBy, mostGrown, type RecordedEvent } from "../protocol/index.ts";
import { applyBlock } from "./apply-block.ts";
import { applyJob, applyOperator } from "./apply-job.ts";
import { applyTask, measureTask } from "./apply-task.ts";
import { applyWorker } from "./apply-worker.ts";
import type { JobView, SessionState } from "./state.ts";
import { bucketAt } from "./timeline.ts";

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
    case "taskFormed":
    case "taskProgress":
    case "taskDone":
    case "taskCut":
    case "outputDropped":
      applyTask(state, event);
      break;
    case "taskFailed":
    case "retry":
    case "oomRetry":
      applyTask(state, event);
      happened(state, event);
      break;
    case "blockMade":
    case "block":
    case "blockDelivered":
    case "blockFreed":
      applyBlock(state, event);
      break;
    case "heldBack":
    case "operatorEnded":
    case "tasksKnown":
    case "slicePassed":
    case "learned":
    case "appetite":
    case "way":
      applyOperator(state, event);
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
      if (event.type === "workerGone" && event.reason !== "asked") happened(state, event);
      break;
    case "jobStarted":
    case "operatorsAdded":
    case "job":
    case "jobFinished":
    case "jobFailed":
    case "kernelSpilled":
      applyJob(state, event);
      if (event.type === "jobFailed") happened(state, event);
      break;
    case "sessionStarted":
      state.session = event;
      break;
    case "sessionEnded":
      state.hasEnded = true;
      break;
    case "memoryLimit":
      limitWorkers(state, event);
      happened(state, event);
      break;
    case "oomFailure":
    case "notice":
    case "pressure":
    case "pausedTooLong":
    case "monitorKill":
    case "workerDied":
    case "recycled":
    case "trimmed":
    case "rebalanced":
      happened(state, event);
      break;
  }
  return state;
}

function happened(state: SessionState, event: RecordedEvent): void {
  state.happened.push(event);
  if (state.happened.length <= KEPT_HAPPENED) return;
  // Removes many at once: shifting the whole list for each new event would be expensive.
  state.happened.splice(0, KEPT_HAPPENED / 10);
  state.happenedBefore += KEPT_HAPPENED / 10;
}

function readMemory(state: SessionState, event: Of<"memory">): void {
  const { at, supervisor, program, store, workers, workerLimit, limit } = event;
  state.memory = { at, supervisor, program, store, workerLimit, limit };
  let own = supervisor.private + program.private;
  let largest = 0;
  for (const reading of workers) {
    own += reading.private;
    largest = Math.max(largest, reading.private);
    const worker = state.workers.get(reading.worker);
    if (worker === undefined) continue;
    worker.reading = reading;
    if (worker.task !== null) measureTask(state, worker.task, reading.private);
  }
  for (const job of state.running) {
    job.peakWorkerMemory = Math.max(job.peakWorkerMemory, largest);
    job.peakSupervisorMemory = Math.max(job.peakSupervisorMemory, supervisor.private);
    job.peakProgramMemory = Math.max(job.peakProgramMemory, program.private);
    keepUnmanaged(state, job, event);
  }
  const bucket = bucketAt(state.timeline, at);
  bucket.resident = Math.max(bucket.resident, store.resident);
  bucket.privateBytes = Math.max(bucket.privateBytes, own);
}

/** The wide kernel has no functions that could keep anything. */
function keepUnmanaged(state: SessionState, job: JobView, { at, workers }: Of<"memory">): void {
  for (const { worker, unmanaged } of workers) {
    if (state.workers.get(worker)?.kind !== "worker") continue;
    job.peakUnmanaged = Math.max(job.peakUnmanaged, unmanaged);
    const growth = grownBy(job.growth[worker], unmanaged, at);
    if (growth !== undefined) job.growth[worker] = growth;
  }
  job.grownUnmanaged = mostGrown(Object.values(job.growth).map(({ grown }) => grown));
}

/** The limit of all workers but those that were raised above it, and the wide kernel. */
function limitWorkers(state: SessionState, { limit }: Of<"memoryLimit">): void {
  const { session, workers } = state;
  const most = session?.workerMemory ?? Number.POSITIVE_INFINITY;
  const next = limit ?? Number.POSITIVE_INFINITY;
  for (const worker of workers.values()) {
    const has = worker.limit ?? Number.POSITIVE_INFINITY;
    const isRaised = has > most && has > next;
    if (worker.kind === "worker" && !isRaised) worker.limit = limit;
  }
  if (session !== null) state.session = { ...session, workerMemory: limit };
}
