/**
 * What a fed operator has gathered goes to other operators, which take its place. Its blocks were kept, so they no
 * longer count as output of their producers, and do not do so again.
 */
import type { Bytes } from "../../protocol/index.ts";
import type { Edge, Fed, OperatorState, Piece, State, TaskState } from "../state/index.ts";
import { dropTask } from "./dropping.ts";
import { keepGathered } from "./fed.ts";
import { arrive, edgeEnded } from "./flow.ts";

/** The operator's one task is over without a result; what it was fed stays with the operator. */
export function takeBack(state: State, task: TaskState): void {
  const { operator } = task;
  const pieces = poolOf(operator).splice(0);
  dropTask(state, task);
  poolOf(operator).push(...pieces);
  operator.input.nextIndex = 0;
  keepGathered(state, operator);
}

/** Bytes that have come from each operator. */
export function gatheredBytes(operator: OperatorState): ReadonlyMap<OperatorState, Bytes> {
  const bytes = new Map<OperatorState, Bytes>();
  for (const { piece } of poolOf(operator)) {
    bytes.set(piece.from, (bytes.get(piece.from) ?? 0) + piece.flow.block.length);
  }
  return bytes;
}

/** Every edge gets what has come from its producer, in the order in which it came. */
export function handBack(state: State, from: OperatorState, edges: readonly Edge[]): void {
  // An operator that read one producer twice has its blocks twice.
  const seen = new Set<Piece>();
  for (const { piece } of poolOf(from).splice(0)) {
    const wanted = seen.has(piece) ? [] : edges.filter(({ producer, closed }) => producer === piece.from && !closed);
    seen.add(piece);
    handOn(state, piece, wanted);
  }
  for (const edge of edges) if (edge.producer.ended) edgeEnded(state, edge);
}

function handOn(state: State, piece: Piece, edges: readonly Edge[]): void {
  const { block } = piece.flow;
  const { kept } = piece.flow.origin.job.holders;
  if (edges.length === 0) state.ledger.release(block.id, kept);
  const flow = { ...piece.flow, rests: true, uses: edges.length };
  for (let extra = 1; extra < edges.length; extra++) state.ledger.retain(block.id, kept);
  for (const edge of edges) arrive(state, edge, { ...piece, flow });
}

function poolOf({ spec, input: { fed } }: OperatorState): Fed["pools"][number] {
  const pool = fed?.gather.kind === "all" ? fed.pools[0] : undefined;
  if (pool === undefined) throw new Error(`${spec.name} does not gather all rows`);
  return pool;
}
