/**
 * Where a worker stands. `moveWorker` is the only writer of a worker's phase. Only this file writes the sets of
 * starting workers and of idle workers (those without a task that may have one).
 */
import type { WorkerPhase } from "../../protocol/index.ts";
import type { OperatorState, State, WorkerState } from "../state/index.ts";
import { assertMove, type Moves } from "./moves.ts";

export const WORKER_MOVES: Moves<WorkerPhase> = {
  starting: { idle: "it has connected", stopping: "it is not needed, has not connected in time, or has died" },
  idle: {
    busy: "it is given a task",
    inspecting: "it is asked a question",
    stopping: "it is dismissed, ended for memory, or has died",
  },
  busy: { idle: "its task has ended", stopping: "it is ended for memory, or has died" },
  inspecting: { idle: "it has answered", stopping: "it is ended for memory, or has died" },
  stopping: {},
};

export function moveWorker(state: State, worker: WorkerState, to: WorkerPhase): void {
  assertMove(WORKER_MOVES, `Worker ${worker.id}`, worker.phase, to);
  const from = worker.phase;
  worker.phase = to;
  if (from === "starting") state.phases.starting.delete(worker);
  settleIdle(state, worker);
  const { stream } = state;
  // The moves of its task say that it is busy, and that it no longer is.
  if (to === "busy" || (from === "busy" && to === "idle")) return;
  const isNew = from === "starting" && to === "idle";
  if (isNew) stream.events.push({ at: stream.at, type: "worker", worker: worker.id, to, pid: worker.pid });
  else stream.events.push({ at: stream.at, type: "worker", worker: worker.id, to });
}

/** To be called when a pause or a trim of the worker begins or ends: it gets no task meanwhile. */
export function settleIdle(state: State, worker: WorkerState): void {
  const mayWork = isReady(state, worker);
  if (mayWork) state.phases.idle.add(worker);
  else state.phases.idle.delete(worker);
  for (const { phases } of worker.knows) {
    if (mayWork) phases.idle.add(worker);
    else phases.idle.delete(worker);
  }
}

/** The wide kernel is in no such set: there is only one. */
export function isReady({ phases: { wide } }: State, worker: WorkerState): boolean {
  const { phase } = worker;
  const { paused } = worker.memory;
  const { trimming } = worker.recycling;
  return phase === "idle" && paused === null && trimming === null && worker !== wide;
}

/** The worker was sent the operator. */
export function knowOperator(worker: WorkerState, operator: OperatorState): void {
  operator.phases.workers.add(worker);
  worker.knows.add(operator);
}

/** A class has run a task in the worker. */
export function classRan(worker: WorkerState, operator: OperatorState): void {
  worker.ran.add(operator);
}

/**
 * The worker is about to end. A class may have only so many instances, and the worker's instances still count until it
 * has ended.
 */
export function forgetOperators(worker: WorkerState): void {
  for (const operator of worker.knows) {
    operator.phases.workers.delete(worker);
    if (operator.isClass) instanceRetires(operator, worker);
  }
  worker.knows.clear();
  worker.ran.clear();
}

/** The instance of a class is being disposed. */
export function instanceRetires(operator: OperatorState, worker: WorkerState): void {
  operator.phases.retiring.add(worker);
}

export function instanceRetired(operator: OperatorState, worker: WorkerState): void {
  operator.phases.retiring.delete(worker);
}

export function workerCame(state: State, worker: WorkerState, kind: "wide" | "worker"): void {
  state.phases.starting.add(worker);
  if (kind === "wide") state.phases.wide = worker;
  else state.workers.set(worker.id, worker);
}

export function workerLeft(state: State, worker: WorkerState): void {
  if (worker === state.phases.wide) state.phases.wide = null;
  state.workers.delete(worker.id);
}

/** The worker is asked to forget the operator. */
export function forgetOperator(worker: WorkerState, operator: OperatorState): void {
  operator.phases.workers.delete(worker);
  operator.phases.idle.delete(worker);
  worker.knows.delete(operator);
  worker.ran.delete(operator);
}
