/**
 * Workers with a higher memory limit than the others, for operators that ask for more `memory` than a worker has. A
 * running V8 cannot be given a larger heap (`--max-old-space-size` set at run time changes nothing), so an idle worker
 * ends and a larger one takes its place; when no operator needs it any more, an ordinary worker replaces it.
 */
import type { Bytes } from "../../protocol/index.ts";
import { roomForTasks } from "../needs/index.ts";
import { areStartsPaused, orderReplacement } from "../starts/index.ts";
import type { OperatorState, State, WorkerState } from "../state/index.ts";
import { runsAlone } from "./alone.ts";
import { dismiss, stopping, withoutTask } from "./workers.ts";

/** The limit that a worker must have for the operator: what a task asks for, or all memory for tasks. */
export function neededFor(state: State, operator: OperatorState): Bytes {
  return runsAlone(operator) ? roomForTasks(state) : operator.needs.request.memory;
}

export function isLargeEnough(state: State, worker: WorkerState, operator: OperatorState): boolean {
  return neededFor(state, operator) <= Math.max(worker.memory.limit, state.memory.workerMemory);
}

/** Orders a worker for the operator, if an idle one can make room for it and none is on its way. */
export function raise(state: State, operator: OperatorState): void {
  const needed = neededFor(state, operator);
  if (needed <= state.memory.workerMemory || areStartsPaused(state)) return;
  if (state.memory.raising.some((memory) => memory >= needed)) return;
  for (const worker of state.workers.values()) {
    if (worker.phase === "starting" && isLargeEnough(state, worker, operator)) return;
  }
  for (const worker of withoutTask(state)) {
    if (hasInstance(worker)) continue;
    stopping(state, worker);
    state.memory.raising.push(needed);
    orderReplacement(state, worker, needed);
    return;
  }
}

export function raisedStarting(state: State, memory: Bytes): void {
  const at = state.memory.raising.indexOf(memory);
  if (at !== -1) state.memory.raising.splice(at, 1);
}

/** Dismisses raised workers that no operator needs. */
export function lower(state: State): void {
  for (const worker of state.memory.raised) {
    if (worker.phase !== "idle" || hasInstance(worker) || isNeeded(state)) continue;
    dismiss(state, worker);
  }
}

/** The limit of a worker that can run any of these; null if an ordinary worker is enough. */
export function raisedFor(state: State, operators: readonly OperatorState[]): Bytes | null {
  const memory = Math.max(0, ...operators.map((operator) => neededFor(state, operator)));
  return memory > state.memory.workerMemory ? memory : null;
}

function isNeeded(state: State): boolean {
  for (const job of state.jobs.values()) {
    if (
      raisedFor(
        state,
        job.operators.filter((operator) => !operator.ended),
      ) !== null
    )
      return true;
  }
  return false;
}

/** A class instance is kept: constructing it again may cost more than everything else. */
export function hasInstance(worker: WorkerState): boolean {
  return instancesIn(worker) > 0;
}

export function instancesIn({ knows }: WorkerState): number {
  let instances = 0;
  for (const { isClass } of knows) if (isClass) instances += 1;
  return instances;
}
