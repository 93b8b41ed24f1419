/**
 * The wide kernel: one process beside the workers, for what needs all rows and all threads. It has one task at a time;
 * whose turn it is, is in wide-turn.ts. What its task makes is seen when it is complete, because with several threads no
 * second attempt would make the same blocks.
 */
import { isSomebodyAlone } from "./alone.ts";
import { keepGathered } from "./fed.ts";
import { emit, holderOf } from "./flow.ts";
import { nextTask } from "./forming.ts";
import { beginLease } from "./lease.ts";
import type { OperatorState, Piece, State, TaskState } from "./state.ts";
import { startTask } from "./tasks.ts";
import { isAnyWanted, nextInTurn, waitsForWide, yieldInTurn } from "./wide-turn.ts";

export function isWide({ spec }: OperatorState): boolean {
  return spec.kind === "tasks" && spec.place === "wide";
}

/** Starts the next wide task, or the process for it; one that waits for input may have to stand back first. */
export function startWide(state: State): void {
  const { wide } = state;
  if (wide.worker === null) {
    if (wide.isOrdered || isSomebodyAlone(state) || !isAnyWanted(state)) return;
    wide.isOrdered = true;
    state.commands.push({ type: "spawnWide" });
    return;
  }
  yieldInTurn(state);
  if (wide.worker.phase !== "idle" || isSomebodyAlone(state)) return;
  const operator = nextInTurn(state);
  if (operator === undefined || operator.spec.kind !== "tasks") return;
  const task = nextTask(state, operator, operator.spec);
  beginLease(state, task);
  startTask(state, task, operator.spec, wide.worker);
  for (const job of state.jobs.values()) {
    for (const other of job.operators) if (waitsForWide(state, other)) keepGathered(state, other);
  }
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
