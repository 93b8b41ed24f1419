/** What workers say: answers and facts of the worker, and messages about its task. */
import {
  inspectionAnswered,
  taskDone,
  taskFailed,
  taskFed,
  taskOutput,
  taskProgressed,
  taskStopped,
  taskTried,
} from "../jobs/index.ts";
import { cannotEvict, heapTold, kernelHolds, trimmed, workerDataHolds } from "../memory/index.ts";
import { failJob, instanceRetired } from "../phases/index.ts";
import { askForRoom } from "../placement/index.ts";
import { instanceGone } from "../resources/index.ts";
import { workDone } from "../starts/index.ts";
import { type Event, passNotice, type State, type TaskMessage, type WorkerState } from "../state/index.ts";

export function fromWorker(state: State, worker: WorkerState, event: Extract<Event, { type: "fromWorker" }>): void {
  const { message } = event;
  switch (message.type) {
    case "inspected":
    case "refused":
      inspectionAnswered(state, worker, message);
      return;
    case "retired":
      retired(state, worker, message);
      return;
    case "notice":
      passNotice(state, message);
      return;
    case "workerData":
      workerDataHolds(state, worker, message.bytes, message.evicts);
      return;
    case "nothingToEvict":
      cannotEvict(state, worker);
      return;
    case "trimmed":
      if (message.request === null) trimmed(state, worker, message.report, message.heap);
      return;
    case "kernel":
      kernelHolds(state, worker, message.memory, message.spilled);
      return;
  }
  const { task } = worker;
  // A worker has one task at a time: a message about another task is out of date.
  if (task === null || task.id !== message.task) return;
  switch (message.type) {
    case "reserve":
      if (task.cancel.at === null && worker.memory.endedFor === null) askForRoom(state, task, message.bytes);
      return;
    case "output":
      taskOutput(state, task, message);
      return;
    case "progress":
      taskProgressed(state, task, message);
      return;
    case "firstBatch":
      taskTried(state, task, message.peakMemory, message.addedMemory);
      return;
    case "fed":
      taskFed(state, task);
      return;
    case "done":
      workDone(state);
      taskDone(state, task, message.report, message.left);
      heapTold(state, worker, message.heap);
      return;
    case "failed":
      taskFailed(state, task, message.error, event);
      return;
    case "cancelled":
      taskStopped(state, task);
      return;
  }
}

function retired(state: State, worker: WorkerState, message: Extract<TaskMessage, { type: "retired" }>): void {
  instanceGone(state, worker, message.job, message.operator);
  const job = state.jobs.get(message.job);
  if (job === undefined) return;
  for (const operator of job.operators) {
    if (operator.spec.id === message.operator) instanceRetired(operator, worker);
  }
  if (message.error !== null) failJob(state, job, message.error);
}
