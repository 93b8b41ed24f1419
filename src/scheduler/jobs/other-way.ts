/**
 * Another way for an operator that looks at all rows. When the wide kernel has run out of memory for good, the program
 * plans the same part of the plan as an exchange, and tells its operators. They take the place of the wide one: what it
 * was fed becomes their input, what its producers still make comes to them, and their last one feeds whom it would have
 * fed. Nobody has seen any of its output, which is hidden until it is complete.
 */
import type { WireError } from "../../errors/index.ts";
import type { FedTable, Operator, OperatorId, ProgramMessage } from "../../protocol/index.ts";
import {
  edgeFrom,
  endIfDone,
  endOperator,
  fedState,
  gatheredBytes,
  handBack,
  moveConsumers,
  takeBack,
} from "../flow/index.ts";
import { failJob, isGoingOn, moveWay } from "../phases/index.ts";
import {
  type Edge,
  inputEnded,
  inputsOf,
  type JobState,
  newOperator,
  note,
  type OperatorState,
  orderedOperators,
  type State,
  type TaskState,
  tell,
  tellNotice,
} from "../state/index.ts";
import { planOf } from "./plan-of.ts";

/** How much of the store one task's input may take, if it is more than one block. */
export const MAX_BUNDLE = 1 / 8;
/** The task has failed for good with `error`; true: another way is tried, and the task is over. */
export function turns(state: State, task: TaskState, error: WireError): boolean {
  const { operator } = task;
  if (operator.way.kind !== "undecided" || error.name !== "OutOfMemoryError" || !isGoingOn(operator.job)) return false;
  takeBack(state, task);
  moveWay(state, operator, { kind: "waiting" });
  return true;
}

/** Asks the program for another way of operators whose input is complete. */
export function askForWays(state: State, job: JobState): void {
  for (const operator of job.operators) {
    const { way, spec } = operator;
    if (way.kind !== "waiting" || !inputEnded(operator) || !isGoingOn(job)) continue;
    moveWay(state, operator, { kind: "asked" });
    const gathered = gatheredBytes(operator);
    const made = operator.edges.inputs.map(({ producer }) => {
      return { operator: producer.spec.id, bytes: gathered.get(producer) ?? 0 };
    });
    tell(state, { type: "otherWay", job: job.id, operator: spec.id, made });
  }
}

/** The program has planned the other way, or could not. */
export function wayPlanned(
  state: State,
  job: JobState,
  message: Extract<ProgramMessage, { type: "wayPlanned" }>,
): void {
  const wide = job.operators.find(({ spec }) => spec.id === message.operator);
  if (wide === undefined || wide.ended || wide.way.kind !== "asked" || !isGoingOn(job)) return;
  if ("error" in message) failJob(state, job, message.error);
  else take(state, job, wide, message.operators);
}

function take(state: State, job: JobState, wide: OperatorState, specs: readonly Operator[]): void {
  const made = addOperators(state, job, wide, specs);
  const last = made.at(-1);
  if (last === undefined) throw new Error(`no operators for another way of ${wide.spec.name}`);
  const edges = wired(job, wide, made);
  moveConsumers(wide, last);
  moveWay(state, wide, { kind: "exchange" });
  note(state, { type: "operatorsAdded", job: job.id, operators: made.map(planOf) });
  const notice = { kind: "otherWay", operator: wide.spec.name, partitions: partitionsOf(specs) } as const;
  tellNotice(state, notice, { job: job.id, what: `${wide.spec.id}/otherWay` });
  handBack(state, wide, edges);
  endOperator(state, wide);
  for (const operator of made) endIfDone(state, operator);
}

function addOperators(state: State, job: JobState, wide: OperatorState, specs: readonly Operator[]): OperatorState[] {
  const at = job.operators.indexOf(wide);
  const ordered = orderedAfter(job, wide, specs);
  const made = specs.map((spec, i) => {
    const fed = spec.kind === "tasks" ? fedState(spec) : null;
    const place = { depth: at + 1 + i, ordered: ordered.has(spec.id) };
    return newOperator(job, spec, place, fed, state.ledger.capacity * MAX_BUNDLE);
  });
  job.operators.splice(at + 1, 0, ...made);
  for (const [depth, operator] of job.operators.entries()) operator.depth = depth;
  job.blockOperators += specs.filter((one) => one.kind === "tasks" && one.sink.kind === "blocks").length;
  return made;
}

/** Which operators keep plan order when the new ones stand in the place of the wide one. */
function orderedAfter(job: JobState, wide: OperatorState, specs: readonly Operator[]): ReadonlySet<OperatorId> {
  const last = specs.at(-1)?.id ?? wide.spec.id;
  const instead = (id: OperatorId) => (id === wide.spec.id ? last : id);
  const operators = job.operators.flatMap(({ spec }) => (spec === wide.spec ? specs : withInputs(spec, instead)));
  return orderedOperators({ ...job.spec, operators });
}

function withInputs(spec: Operator, instead: (id: OperatorId) => OperatorId): Operator {
  const ofTable = (table: FedTable) => ({ ...table, operators: table.operators.map(instead) });
  if (spec.kind === "slice") return { ...spec, input: { ...spec.input, operators: spec.input.operators.map(instead) } };
  const broadcast = spec.broadcast.map(ofTable);
  const { input } = spec;
  if (input.kind === "splits") return { ...spec, broadcast };
  if (input.kind === "fed") return { ...spec, broadcast, input: { ...input, tables: input.tables.map(ofTable) } };
  return { ...spec, broadcast, input: { ...input, operators: input.operators.map(instead) } };
}

/** Makes the edges of the new operators; those from producers of the wide operator are returned. */
function wired(job: JobState, wide: OperatorState, made: readonly OperatorState[]): Edge[] {
  const producers = new Map(job.operators.map((operator) => [operator.spec.id, operator]));
  const edges: Edge[] = [];
  for (const operator of made) {
    for (const { id, table, isBroadcast } of inputsOf(operator.spec)) {
      const producer = producers.get(id);
      if (producer === undefined) throw new Error(`${operator.spec.name} reads the operator ${id}, which is not there`);
      const edge = edgeFrom(producer, operator, table, isBroadcast);
      (isBroadcast ? operator.edges.broadcasts : operator.edges.inputs).push(edge);
      if (wide.edges.inputs.some((other) => other.producer === producer)) edges.push(edge);
    }
  }
  return edges;
}

function partitionsOf(specs: readonly Operator[]): number | null {
  const counts = specs.flatMap(({ input }) =>
    input.kind === "fed" && input.gather.kind === "partitions" ? input.gather.count : [],
  );
  return counts.length === 0 ? null : Math.max(...counts);
}
