/**
 * Tasks that compute alone, because memory does not hold them beside others (need.ts). Such a task starts when no other
 * task computes, and no task starts while it computes. Idle workers end to give it their memory, and come back when
 * other work begins. A task that waits for room, or for more input, does not compute: it may be waiting for others, so
 * it goes on beside them. Therefore no task ever waits for a task that waits. Nor does it wait for ever for a task that
 * never ends: one that has computed for long, in a worker with little memory, does not count. Turns follow the order of
 * dispatch.ts: job by job.
 */
import type { Milliseconds } from "../../protocol/index.ts";
import { isStarving } from "../flow/index.ts";
import { roomForTasks } from "../needs/index.ts";
import type { OperatorState, State, TaskState, WorkerState } from "../state/index.ts";
import { endIdle, isParkedFor, park, unpark } from "./parking.ts";

/** After this time, a task may be waiting for something outside the session, or may never end. */
export const LONG: Milliseconds = 10_000;
/** Share of the memory for tasks. */
const LITTLE = 0.1;

export function runsAlone({ needs: { learned } }: OperatorState): boolean {
  return learned?.alone === true;
}

/** Tasks that must be alone do not keep a task of the operator from starting. */
export function isItsTurn(state: State, operator: OperatorState): boolean {
  if (state.alone.size === 0) return true;
  return runsAlone(operator)
    ? !isAnybodyComputing(state)
    : state.placement.nextAlone === null && !isSomebodyAlone(state);
}

/** A task that must be alone is computing. */
export function isSomebodyAlone(state: State): boolean {
  for (const { phases } of state.alone) {
    for (const task of phases.running.values()) if (task.run.need?.alone === true && isComputing(task)) return true;
  }
  return false;
}

function isAnybodyComputing(state: State): boolean {
  const { workers } = state;
  const { wide } = state.phases;
  const isAtWork = (worker: WorkerState) => {
    const { phase, task } = worker;
    return phase === "inspecting" || (task !== null && isComputing(task) && !isNegligible(state, worker, task));
  };
  if (wide !== null && isAtWork(wide)) return true;
  for (const worker of workers.values()) if (isAtWork(worker)) return true;
  return false;
}

function isNegligible(state: State, { memory: { reading } }: WorkerState, { run: { startedAt } }: TaskState): boolean {
  if (reading === null || state.now - startedAt < LONG) return false;
  return reading.private <= LITTLE * roomForTasks(state);
}

function isComputing(task: TaskState): boolean {
  return task.asking === null && !isStarving(task);
}

/** A task begins in the worker. If it must be alone, idle workers end; if not, those that had ended come back. */
export function makeWay(state: State, operator: OperatorState, worker: WorkerState): void {
  if (runsAlone(operator)) park(state, "task", worker);
  else unpark(state, "task");
}

/**
 * Called with every event: workers that have only just started end, too, and workers that are wanted again come back.
 */
export function settleAlone(state: State): void {
  if (!isParkedFor(state, "task")) return;
  if (state.alone.size === 0) unpark(state, "task");
  else if (isSomebodyAlone(state)) endIdle(state, null);
}
