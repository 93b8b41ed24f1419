/**
 * Blocks whose file was damaged on disk. Where the task that made one reads from outside the job, its input still
 * exists: the task is run again, and of all its blocks only the lost one is kept, after it was compared with what it
 * was. In every other case the job that needs it fails, with the error that names the file. A wrong row is never handed
 * on.
 */

import type { WireError } from "../../errors/index.ts";
import type { BlockId, TaskId } from "../../protocol/index.ts";
import { NO_NEED } from "../needs/index.ts";
import { failJob, isGoingOn, moveTask } from "../phases/index.ts";
import type { Flow, JobState, OperatorState, State, TaskState } from "../state/index.ts";
import { outputOf } from "../state/index.ts";
import { stillToRead } from "./feeds.ts";
import { formTask } from "./form-task.ts";

/** Has the block made again, or fails the jobs that need it. */
export function repair(state: State, id: BlockId): void {
  const lost = state.flow.lost.get(id);
  if (lost === undefined || lost.isBeingMade) return;
  for (const job of state.jobs.values()) {
    if (!isGoingOn(job) || !isNeededBy(job, id)) continue;
    const flow = flowOf(job, id);
    const task = flow === null ? null : repairTask(state, flow, lost.error);
    if (task === null) failJob(state, job, lost.error);
    else {
      lost.isBeingMade = true;
      moveTask(state, task, "waiting");
      return;
    }
  }
}

function repairTask(state: State, flow: Flow, error: WireError): TaskState | null {
  const { origin, recipe, block } = flow;
  // The tables that every task reads are gone with the last task.
  if (origin.edges.broadcasts.length > 0 && isThrough(state, origin)) return null;
  if (origin.spec.kind !== "tasks" || recipe.input.kind === "fed" || origin.spec.input.kind !== "splits") return null;
  const id = `${origin.job.id}/${origin.spec.id}/${recipe.index}~${block.id}` as TaskId;
  const read = { source: recipe.input, pieces: [], feed: null };
  return formTask(state, origin, id, recipe.index, read, {
    lost: { flow, error },
    handedOver: recipe.handedOver.slice(0, recipe.number + 1),
    need: { ...NO_NEED, batchSize: recipe.batchSize },
    blockBytes: recipe.blockBytes,
  });
}

function isNeededBy(job: JobState, id: BlockId): boolean {
  if (flowOf(job, id) !== null) return true;
  return job.operators.some((operator) => [...operator.phases.fetching].some((task) => task.input.blocks.includes(id)));
}

/** Where the block waits in the job: as a task's input, or as output for the program. */
function flowOf(job: JobState, id: BlockId): Flow | null {
  for (const operator of job.operators) {
    for (const task of operator.phases.fetching) {
      for (const { flow } of task.input.pieces) if (flow.block.id === id) return flow;
    }
  }
  for (const { input, phases } of job.operators) {
    for (const task of input.fed === null ? [] : phases.running.values()) {
      for (const { flow } of stillToRead(task)) if (flow.block.id === id) return flow;
    }
  }
  for (const { flow } of outputOf(job).queue) if (flow.block.id === id) return flow;
  return null;
}

/** The operator has ended, and none of its tasks is left, including tasks that make a lost block again. */
export function isThrough({ phases: { repairs } }: State, operator: OperatorState): boolean {
  const { ended } = operator;
  const { running, repairing, fetching, aside } = operator.phases;
  if (!ended || running.size + repairing.size + fetching.size + aside.size > 0) return false;
  return repairs.every((task) => task.operator !== operator);
}

/** The task has made its lost block again. */
export function repaired(state: State, task: TaskState): void {
  const { operator, repairs } = task;
  const { granted } = task.output;
  if (granted === null || repairs === null) return;
  task.output.granted = null;
  operator.budget.liveBytes -= granted.length;
  operator.budget.grantedBytes -= granted.length;
  operator.budget.grantedTasks -= 1;
  const { id } = repairs.flow.block;
  if (isStillLost(state, task)) state.ledger.repaired(id, granted);
  else state.ledger.abandon(granted);
  state.flow.lost.delete(id);
}

/** The block is still wanted, and was not made again before the task's worker died. */
export function isStillLost({ ledger }: State, { repairs }: TaskState): boolean {
  if (repairs === null) return false;
  const { id } = repairs.flow.block;
  return ledger.has(id) && ledger.stateOf(id) === "lost";
}

/** The task is over, in whatever way: a block that it did not make again is lost for good. */
export function repairOver(state: State, task: TaskState): void {
  if (task.repairs === null) return;
  const { flow, error } = task.repairs;
  if (!state.ledger.has(flow.block.id)) state.flow.lost.delete(flow.block.id);
  else if (state.flow.lost.has(flow.block.id)) failJob(state, task.operator.job, error);
}

/** The task is no longer wanted. Other readers of the block find out again that it is lost. */
export function repairGivenUp(state: State, { repairs }: TaskState): void {
  const lost = repairs === null ? undefined : state.flow.lost.get(repairs.flow.block.id);
  if (lost !== undefined) lost.isBeingMade = false;
}

/** Forgets blocks without references. */
export function forgetLost({ flow: { lost }, ledger }: State): void {
  for (const id of lost.keys()) if (!ledger.has(id)) lost.delete(id);
}
