/**
 * The planner's questions about files, each answered by an idle worker before any job begins. A question that runs out
 * of memory is asked once more, with all the memory that tasks could have: nothing else about it can be made smaller.
 */

import { OutOfMemoryError, toWire, type WireError } from "../../errors/index.ts";
import { kernelLease } from "../../memory/index.ts";
import type { KernelLease, WorkerMessage } from "../../protocol/index.ts";
import { heapOf } from "../memory/index.ts";
import { roomForTasks } from "../needs/index.ts";
import { deathError, kernelLimitOf } from "../oom/index.ts";
import { inspectAgain, moveWorker, nextInspection } from "../phases/index.ts";
import type { WorkerEnd } from "../state/index.ts";
import { type State, send, tell, type WorkerState } from "../state/index.ts";

type Answer = Extract<WorkerMessage, { type: "inspected" | "refused" }>;

/** False: there is no idle worker, or no question. */
export function inspectNext(state: State): boolean {
  const [worker] = state.phases.idle;
  const inspection = worker === undefined ? undefined : nextInspection(state);
  if (inspection === undefined || worker === undefined) return false;
  moveWorker(state, worker, "inspecting");
  worker.inspection = inspection;
  const { request, sql, quick, relief } = inspection;
  const asked = quick === undefined ? { sql } : { sql, quick };
  const lease = relief ? { lease: reliefLease(state, worker) } : {};
  send(state, worker, { type: "inspect", request, ...asked, ...lease });
  return true;
}

export function inspectionAnswered(state: State, worker: WorkerState, answer: Answer): void {
  const { inspection } = worker;
  if (inspection?.request !== answer.request) return;
  worker.inspection = null;
  if (worker.phase === "inspecting") moveWorker(state, worker, "idle");
  if (answer.type === "inspected" || answer.error.name !== "KernelMemoryError") {
    tell(state, answer);
    return;
  }
  const had = kernelLimitOf(answer.error);
  if (!inspection.relief && had !== null && (reliefLease(state, worker).memory ?? 0) > had) {
    inspection.relief = true;
    inspectAgain(state, inspection);
    return;
  }
  tell(state, { ...answer, error: outOfMemory(answer.error, inspection.relief) });
}

export function inspectionDied(state: State, worker: WorkerState, end: WorkerEnd): void {
  const { inspection } = worker;
  if (inspection === null) return;
  worker.inspection = null;
  inspection.attempts += 1;
  if (inspection.attempts <= inspection.maxRetries && end.cause !== "heap") {
    inspectAgain(state, inspection);
    return;
  }
  const error = toWire(deathError("inspect", worker.pid, end, inspection.attempts, heapOf(state, worker)));
  tell(state, { type: "refused", request: inspection.request, error });
}

function reliefLease(state: State, worker: WorkerState): KernelLease {
  return kernelLease(Math.min(roomForTasks(state), worker.memory.limit), 1, true);
}

function outOfMemory({ message }: WireError, isSecond: boolean): WireError {
  const remedies = ["A machine or control group with more memory, or a smaller objectStoreMemory."];
  return toWire(new OutOfMemoryError(message, "inspect", "engineMemory", null, isSecond ? 2 : 1, remedies));
}
