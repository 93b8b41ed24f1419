/** Forms an operator's next task: from a split, from queued blocks, or as a task that will be fed. */
import type { BlockId, TaskId, TaskOperator } from "../../protocol/index.ts";
import type { Feed, OperatorState, Piece, State, TaskSource, TaskState } from "../state/index.ts";
import { inputEnded, isBundle } from "../state/index.ts";
import { isFormable, nextFeed } from "./fed.ts";
import { alwaysNeeded, formTask, needsOf } from "./form-task.ts";
import { bytesOf, holderOf, putBack, taken } from "./pieces.ts";

/** There is input for another task. `partial`: a bundle smaller than the operator prefers is enough. */
export function isRunnable(state: State, operator: OperatorState, partial: boolean): boolean {
  const { spec } = operator;
  if (operator.ended || spec.kind !== "tasks" || spec.place === "wide") return false;
  if (operator.edges.broadcasts.some((edge) => !edge.ended)) return false;
  if (operator.phases.again.length > 0) return true;
  if (operator.input.fed !== null) return isFormable(state, operator, operator.input.fed);
  if (spec.input.kind === "splits") return operator.input.nextSplit < spec.input.splits.length;
  if (operator.input.ready.length === 0) return false;
  if (partial) return true;
  return isBundle(operator, spec, operator.input.readyRows, operator.input.readyBytes) || inputEnded(operator);
}

/** The index of the task that `nextTask` would give. */
export function nextIndex(operator: OperatorState): number {
  return operator.phases.again[0]?.index ?? operator.input.nextIndex;
}

/** The blocks that the task of `nextTask` would read. */
export function nextNeeds(operator: OperatorState): readonly BlockId[] {
  const { spec } = operator;
  const [again] = operator.phases.again;
  if (again !== undefined) return again.input.blocks;
  const always = alwaysNeeded(operator);
  if (spec.kind !== "tasks" || operator.input.fed !== null) return always;
  if (spec.input.kind === "splits") {
    const split = spec.input.splits[operator.input.nextSplit];
    return split === undefined ? [] : needsOf(split, always);
  }
  const needs: BlockId[] = [];
  let rows = 0;
  let bytes = 0;
  for (const piece of operator.input.ready) {
    needs.push(piece.flow.block.id);
    rows += piece.end - piece.start;
    bytes += bytesOf(piece);
    if (isBundle(operator, spec, rows, bytes)) break;
  }
  return [...needs, ...always];
}

/**
 * Forms the operator's next task from its input, if no task waits. Call only when `isRunnable`; the caller moves the
 * task to its next phase at once.
 */
export function nextTask(state: State, operator: OperatorState, spec: TaskOperator): TaskState {
  const [again] = operator.phases.again;
  if (again !== undefined) return again;
  if (operator.input.fed !== null) {
    const feed = nextFeed(state, operator, operator.input.fed);
    return formNext(state, operator, { kind: "fed" }, [], feed);
  }
  if (spec.input.kind === "splits") {
    const split = spec.input.splits[operator.input.nextSplit];
    if (split === undefined) throw new Error(`${spec.name} has no split ${operator.input.nextSplit}`);
    operator.input.nextSplit += 1;
    return formNext(state, operator, split, []);
  }
  const pieces = takeBundle(state, operator, spec);
  const slices = pieces.map(({ flow, start, end }) => ({ block: flow.block, start, end }));
  const task = formNext(state, operator, { kind: "blocks", slices }, pieces);
  for (const { flow } of pieces) state.ledger.pass(flow.block.id, holderOf(flow), operator.job.holders.tasks);
  return task;
}

/** Whole batches where the operator prefers a number of rows: the rest of the last piece waits for the next task. */
function takeBundle(state: State, operator: OperatorState, spec: TaskOperator): readonly Piece[] {
  const pieces: Piece[] = [];
  let rows = 0;
  let bytes = 0;
  while (pieces.length === 0 || !isBundle(operator, spec, rows, bytes)) {
    const piece = operator.input.ready.shift();
    if (piece === undefined) break;
    taken(piece);
    rows += piece.end - piece.start;
    bytes += bytesOf(piece);
    pieces.push(piece);
  }
  operator.input.readyRows -= rows;
  operator.input.readyBytes -= bytes;
  const last = pieces.at(-1);
  const isEnd = operator.input.ready.length === 0 && inputEnded(operator);
  const surplus = rows > spec.minRowsPerTask && !isEnd ? rows % spec.minRowsPerTask : 0;
  if (last === undefined || surplus === 0) return pieces;
  const cut = last.end - surplus;
  putBack(state, operator, { ...last, start: cut });
  return [...pieces.slice(0, -1), { ...last, end: cut }];
}

function formNext(
  state: State,
  operator: OperatorState,
  source: TaskSource,
  pieces: readonly Piece[],
  feed: Feed | null = null,
): TaskState {
  const index = operator.input.nextIndex;
  operator.input.nextIndex += 1;
  const id = `${operator.job.id}/${operator.spec.id}/${index}` as TaskId;
  return formTask(state, operator, id, index, { source, pieces, feed });
}
