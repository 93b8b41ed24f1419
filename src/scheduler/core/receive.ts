/** What an event changes directly, before anything follows from it. */
import type { WorkerId } from "../../protocol/index.ts";
import { blockDamaged, blockRestored } from "../flow/index.ts";
import { inspectionDied, jobCommitted, jobDiscarded, taskDied, tasksMeasured } from "../jobs/index.ts";
import {
  addWorker,
  failIfProgramHoldsAll,
  forgetWorker,
  memoryRead,
  memoryReport,
  nodeShare,
  programHolds,
  raisedStarting,
  settleAllotment,
  stopping,
  watchNode,
  workerOf,
} from "../memory/index.ts";
import { cannotStart, diedEvent, workersDoNotStart } from "../oom/index.ts";
import { instanceRetired, moveWorker, workerLeft } from "../phases/index.ts";
import { wideBegins } from "../placement/index.ts";
import { workerLost } from "../resources/index.ts";
import { openStarts, workComes, workerConnected, workerEnded } from "../starts/index.ts";
import { type Event, note, type State, tell, type WorkerEnd, watch } from "../state/index.ts";
import { blocksNotSpilled, blocksSpilled, restoreFailed, spillUnderPressure } from "../store/index.ts";
import { fromWorker } from "./from-worker.ts";
import { noteGone, noteMemory } from "./noting.ts";
import { fromProgram } from "./program.ts";

export function receive(state: State, event: Event): void {
  switch (event.type) {
    case "open":
      openStarts(state);
      return;
    case "workerStarting":
      if (event.memory !== undefined) raisedStarting(state, event.memory);
      addWorker(state, event.worker, event.memory ?? state.memory.workerMemory, event.isWide === true);
      if (event.isWide === true) wideBegins(state);
      return;
    case "workerReady":
      workerReady(state, event.worker, event.pid);
      return;
    case "workerGone":
      workerGone(state, event.worker, event.end);
      return;
    case "workersUnavailable":
      cannotStart(state, event.error);
      return;
    case "workersAsked":
      workComes(state);
      return;
    case "fromWorker": {
      const worker = workerOf(state, event.worker);
      if (worker !== undefined) fromWorker(state, worker, event);
      return;
    }
    case "fromProgram":
      fromProgram(state, event.message);
      return;
    case "measured":
      tell(state, { type: "memory", request: event.request, memory: memoryReport(state) });
      return;
    case "committed": {
      const job = state.jobs.get(event.job);
      if (job !== undefined) jobCommitted(state, job, event.error);
      return;
    }
    case "discarded": {
      const job = state.jobs.get(event.job);
      if (job !== undefined) jobDiscarded(state, job);
      return;
    }
    case "spilled":
      blocksSpilled(state, event.blocks);
      spillUnderPressure(state);
      return;
    case "notSpilled":
      blocksNotSpilled(state, event.blocks, event.error);
      return;
    case "restored":
      blockRestored(state, event.block);
      return;
    case "notRestored":
      restoreFailed(state, event.block, event.error);
      return;
    case "damaged":
      blockDamaged(state, event.block, event.error);
      return;
    case "memory":
      memoryRead(state, event);
      settleAllotment(state);
      failIfProgramHoldsAll(state);
      tasksMeasured(state);
      noteMemory(state);
      return;
    case "nodeMemory":
      note(state, { type: "node", used: event.used, total: event.total });
      watchNode(state, { used: event.used, total: event.total }, event.mayEnd);
      return;
    case "programHolds":
      note(state, { type: "node", used: event.node.used, total: event.node.total });
      programHolds(state, event.request, event.bytes, event.node);
      return;
    case "nodeShare":
      nodeShare(state, event.memory, event.sessions);
      return;
    case "tick":
      return;
  }
}

function workerReady(state: State, id: WorkerId, pid: number): void {
  const worker = workerOf(state, id);
  if (worker === undefined || worker.phase !== "starting") return;
  worker.pid = pid;
  moveWorker(state, worker, "idle");
  workerConnected(state);
}

function workerGone(state: State, id: WorkerId, end: WorkerEnd): void {
  const worker = workerOf(state, id);
  if (worker === undefined) return;
  // A dismissed worker that exits is not a death.
  if (worker.phase !== "stopping" || end.cause !== "asked") watch(state, diedEvent(worker, end));
  noteGone(state, worker, end);
  if (workerEnded(state, worker, end)) cannotStart(state, workersDoNotStart(end));
  workerLeft(state, worker);
  forgetWorker(state, worker);
  workerLost(state, worker);
  stopping(state, worker);
  // A dead worker cannot dispose its instances: stop waiting for that.
  for (const job of state.jobs.values()) for (const operator of job.operators) instanceRetired(operator, worker);
  state.ledger.forgetMaker(id);
  if (worker.task !== null) taskDied(state, worker.task, worker, end);
  inspectionDied(state, worker, end);
}
