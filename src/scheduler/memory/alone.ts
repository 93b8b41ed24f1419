/**
 * Tasks that compute alone, because memory does not hold them beside others (need.ts). One starts when no other task
 * computes, and while it computes none starts; idle workers end for its sake, and come back when something else begins.
 * A task that waits for room, or for more input, does not compute: others may be what it waits for, and it goes on beside
 * them. So nobody ever waits for somebody who waits. Nor for ever for somebody who never ends: a task that has computed for
 * long, in a worker that has little, is no company that matters. Whose turn it is follows the order of dispatch.ts: job by job.
 */
import type { Milliseconds } from "../../protocol/index.ts";
import { isStarving } from "../flow/index.ts";
import { roomForTasks } from "../needs/index.ts";
import type { OperatorState, State, TaskState, WorkerState } from "../state/index.ts";
import { dismiss, tellWanted, withoutTask } from "./workers.ts";

/** From then on it may be one of those that wait for something outside, or have no end. */
const LONG: Milliseconds = 10_000;
/** Of what there is for tasks. */
const LITTLE = 0.1;

export function runsAlone({ learned }: OperatorState): boolean {
  return learned?.alone === true;
}

/** A task of the operator may start, as far as those go who have to be alone. */
export function isItsTurn(state: State, operator: OperatorState): boolean {
  if (state.alone.size === 0) return true;
  return runsAlone(operator) ? !isAnybodyComputing(state) : state.nextAlone === null && !isSomebodyAlone(state);
}

/** A task computes that nothing may start beside. */
export function isSomebodyAlone(state: State): boolean {
  for (const { running } of state.alone) {
    for (const task of running.values()) if (task.need?.alone === true && isComputing(task)) return true;
  }
  return false;
}

function isAnybodyComputing(state: State): boolean {
  const { workers, wide } = state;
  const isAtWork = (worker: WorkerState) => {
    const { phase, task } = worker;
    return phase === "inspecting" || (task !== null && isComputing(task) && !isNegligible(state, worker, task));
  };
  if (wide.worker !== null && isAtWork(wide.worker)) return true;
  for (const worker of workers.values()) if (isAtWork(worker)) return true;
  return false;
}

function isNegligible(state: State, { reading }: WorkerState, { startedAt }: TaskState): boolean {
  if (reading === null || state.now - startedAt < LONG) return false;
  return reading.private <= LITTLE * roomForTasks(state);
}

function isComputing(task: TaskState): boolean {
  return task.asking === null && !isStarving(task);
}

/** A task begins in the worker: idle ones end where it is to have the memory, and come back where it does not need that. */
export function makeWay(state: State, operator: OperatorState, worker: WorkerState): void {
  if (!runsAlone(operator)) unpark(state);
  else if (!state.isParked) {
    state.isParked = true;
    tellWanted(state);
  }
  dismissIdle(state, worker);
}

/** Looked at with every event: workers that were only starting, and those that are wanted again. */
export function settleAlone(state: State): void {
  if (!state.isParked) return;
  if (state.alone.size === 0) unpark(state);
  else if (isSomebodyAlone(state)) dismissIdle(state, null);
}

function dismissIdle(state: State, except: WorkerState | null): void {
  if (!state.isParked) return;
  for (const worker of withoutTask(state)) if (worker !== except) dismiss(state, worker);
}

function unpark(state: State): void {
  if (!state.isParked) return;
  state.isParked = false;
  tellWanted(state);
}
