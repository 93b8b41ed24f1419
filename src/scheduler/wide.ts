/**
 * The wide kernel: one process beside the workers, for what needs all rows and all threads. It has one task at a time;
 * jobs take turns in the order of their start, and within a job the operator furthest upstream goes first: whoever is
 * downstream of it cannot be through before it. What its task makes is seen when it is complete, because with several
 * threads no second attempt would make the same blocks.
 */
import { isSomebodyAlone } from "./alone.ts";
import { emit, holderOf, inputEnded } from "./flow.ts";
import { nextTask } from "./forming.ts";
import { tellLease } from "./lease.ts";
import type { JobState, OperatorState, Piece, State, TaskState } from "./state.ts";
import { startTask } from "./tasks.ts";

export function isWide({ spec }: OperatorState): boolean {
  return spec.kind === "tasks" && spec.place === "wide";
}

/** Starts the next wide task, or the process for it. */
export function startWide(state: State): void {
  const { wide } = state;
  if (wide.isOrdered || isSomebodyAlone(state) || (wide.worker !== null && wide.worker.phase !== "idle")) return;
  for (const job of state.jobs.values()) {
    const operator = job.phase === "running" ? nextWide(job) : undefined;
    if (operator === undefined || operator.spec.kind !== "tasks") continue;
    if (wide.worker === null) {
      wide.isOrdered = true;
      state.commands.push({ type: "spawnWide" });
    } else if (hasInput(operator)) {
      tellLease(state, operator);
      startTask(state, nextTask(state, operator, operator.spec), operator.spec, wide.worker);
    }
    return;
  }
}

/** The first that has not ended, where it does not run yet. */
function nextWide(job: JobState): OperatorState | undefined {
  const operator = job.operators.find((one) => isWide(one) && !one.ended);
  if (operator === undefined || operator.running.size + operator.aside.size + operator.resting.size > 0)
    return undefined;
  if (operator.broadcasts.some((edge) => !edge.ended)) return undefined;
  return operator.again.length > 0 || operator.nextIndex === 0 ? operator : undefined;
}

/** Something to read, or nothing to wait for: before that it would only have memory that others need. */
function hasInput(operator: OperatorState): boolean {
  return operator.again.length > 0 || operator.fed?.pools[0]?.length !== 0 || inputEnded(operator);
}

/** It would run if another job's task did not. */
export function waitsForWide({ wide }: State, operator: OperatorState): boolean {
  const busyWith = wide.worker?.task?.operator.job;
  return isWide(operator) && !operator.ended && busyWith !== undefined && busyWith !== operator.job;
}

/** Nobody sees the block yet. It rests: as it waits for the others it may go to disk. */
export function hide(state: State, task: TaskState, piece: Piece): void {
  const { operator } = task;
  state.ledger.pass(piece.flow.block.id, operator.job.holder, holderOf(piece.flow));
  task.hidden.push(piece);
}

/** The task is done: its output is handed on as a whole. */
export function reveal(state: State, task: TaskState): void {
  for (const piece of task.hidden.splice(0)) {
    if (task.operator.ended) state.ledger.release(piece.flow.block.id, holderOf(piece.flow));
    else emit(state, task.operator, piece);
  }
}

/** What the attempt has made is worth nothing. */
export function dropHidden(state: State, task: TaskState): void {
  const { operator, hidden } = task;
  if (hidden.length === 0) return;
  operator.figures.blocks -= hidden.length;
  task.handedOver.length = 0;
  task.bytesOut = 0;
  for (const { flow } of hidden.splice(0)) state.ledger.release(flow.block.id, holderOf(flow));
}
