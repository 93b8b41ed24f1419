/**
 * Makes a failing session smaller as long as it still fails in the same way: fewer jobs, operators, splits, rows,
 * workers and dangers. What is left is what the failure needs.
 */
import type { Operator, TaskOperator } from "../../src/protocol/index.ts";
import { readsOf } from "./gathering.ts";
import type { MemoryMeans } from "./means.ts";
import { type PlannedJob, resultOf, rowsOfSplit, splitOf } from "./plans.ts";
import type { PlannedStart, Session } from "./session.ts";

/** How long to try: a session takes milliseconds, and the first few hundred bring nearly everything. */
const PATIENCE = 15_000;
/** A smaller session takes another course, so a few of them are tried. */
const COURSES = 4;

/** `fails`: the way in which a session fails, or null. */
export function shrink(session: Session, fails: (session: Session) => string | null): Session {
  const way = fails(session);
  if (way === null) return session;
  let smallest = session;
  const end = performance.now() + PATIENCE;
  const firstFailing = (): Session | null => {
    for (const smaller of smallerOnes(smallest)) {
      for (let course = 0; course < COURSES; course++) {
        if (performance.now() > end) return null;
        const candidate = { ...smaller, seed: smallest.seed + course };
        if (fails(candidate) === way) return candidate;
      }
    }
    return null;
  };
  for (let next = firstFailing(); next !== null; next = firstFailing()) smallest = next;
  return smallest;
}

/** Largest steps first. */
function* smallerOnes(session: Session): IterableIterator<Session> {
  const { starts, dangers, workers, kept, managedTarget, memory, broken, asksAt } = session;
  for (const start of starts)
    if (starts.length > 1) yield { ...session, starts: starts.filter((one) => one !== start) };
  if (kept !== null) yield { ...session, kept: null };
  if (managedTarget !== null) yield { ...session, managedTarget: null };
  for (const at of asksAt) yield { ...session, asksAt: asksAt.filter((one) => one !== at) };
  if (broken !== null) yield { ...session, broken: null };
  if (memory !== null) yield* withLessMemory(session, memory);
  for (const [danger, value] of Object.entries(dangers)) {
    if (value > 0) yield { ...session, dangers: { ...dangers, [danger]: 0 } };
  }
  if (workers > 1) yield { ...session, workers: workers - 1 };
  for (const [i, start] of starts.entries()) {
    for (const smaller of smallerStarts(start)) yield { ...session, starts: starts.with(i, smaller) };
  }
}

function* withLessMemory(session: Session, memory: MemoryMeans): IterableIterator<Session> {
  yield { ...session, memory: null };
  if (memory.rebalances.length > 0) yield { ...session, memory: { ...memory, rebalances: [] } };
  // The last one gives all back.
  for (const one of memory.shares.slice(0, -1))
    yield { ...session, memory: { ...memory, shares: memory.shares.filter((other) => other !== one) } };
  for (const one of memory.program.slice(0, -1))
    yield { ...session, memory: { ...memory, program: memory.program.filter((other) => other !== one) } };
  if (memory.leak > 0) yield { ...session, memory: { ...memory, leak: 0 } };
}

function* smallerStarts(start: PlannedStart): IterableIterator<PlannedStart> {
  const { planned } = start;
  if (start.keeps) yield { ...start, keeps: false };
  if (start.cancelledAfter !== null) yield { ...start, cancelledAfter: null };
  if (start.abandonedAfter !== null) yield { ...start, abandonedAfter: null };
  if (start.at > 0) yield { ...start, at: 0 };
  const { operators } = planned.spec;
  for (const operator of operators) {
    const left = without(operators, operator);
    if (left !== null) yield { ...start, planned: withOperators(planned, left) };
  }
  if (planned.spec.preserveOrder) {
    yield { ...start, planned: { ...planned, spec: { ...planned.spec, preserveOrder: false } } };
  }
  for (const [i, operator] of operators.entries()) {
    for (const smaller of smallerOperators(operator)) {
      yield { ...start, planned: withOperators(planned, operators.with(i, smaller)) };
    }
  }
}

function* smallerOperators(operator: Operator): IterableIterator<Operator> {
  if (operator.kind !== "tasks") return;
  if (operator.minRowsPerTask > 1) yield { ...operator, minRowsPerTask: 1 };
  if (operator.steps.length > 0) yield { ...operator, steps: [] };
  const { input } = operator;
  if (input.kind !== "splits") return;
  const { splits } = input;
  const half = splits.length >> 1;
  if (half > 0) yield { ...operator, input: { kind: "splits", splits: splits.slice(0, half) } };
  for (const split of splits) {
    yield { ...operator, input: { kind: "splits", splits: splits.filter((one) => one !== split) } };
  }
  for (const [i, split] of splits.entries()) {
    const rows = split.kind === "sql" ? rowsOfSplit(split) : [];
    const fewer = splitOf(rows.slice(0, rows.length >> 1));
    if (rows.length > 0) yield { ...operator, input: { kind: "splits", splits: splits.with(i, fewer) } };
  }
}

/** Whoever read it reads what it read, be it splits; null where that makes no plan. */
function without(operators: readonly Operator[], gone: Operator): readonly Operator[] | null {
  const left: Operator[] = [];
  for (const operator of operators) {
    if (operator === gone) continue;
    const { input } = operator;
    if (!readsOf(operator).includes(gone.id)) {
      left.push(operator);
      continue;
    }
    if (input.kind !== "operators" || !input.operators.includes(gone.id)) {
      // A fed operator reads what the one before it read; a broadcast goes with its table.
      const replaced = operator.kind === "tasks" ? fedWithout(operator, gone) : null;
      if (replaced === null) return null;
      left.push(replaced);
      continue;
    }
    const inputs = input.operators.flatMap((id) =>
      id !== gone.id ? [id] : gone.input.kind === "operators" ? gone.input.operators : [],
    );
    if (inputs.length > 0) left.push({ ...operator, input: { kind: "operators", operators: [...new Set(inputs)] } });
    else if (operator.kind === "tasks") left.push({ ...operator, ...readerOf(gone), input: gone.input });
    else return null;
  }
  return left.length === 0 || isAnyUnread(left) ? null : left;
}

/** Only the wide kernel takes the input of a wide operator. It runs no functions. */
function readerOf(operator: Operator): Partial<TaskOperator> {
  return operator.kind === "tasks" && operator.place === "wide" ? { place: "wide", steps: [] } : {};
}

function fedWithout(operator: TaskOperator, gone: Operator): TaskOperator | null {
  const { input } = operator;
  if (operator.broadcast.some(({ operators }) => operators.includes(gone.id))) return { ...operator, broadcast: [] };
  if (input.kind !== "fed" || input.gather.kind === "partitions" || gone.input.kind !== "operators") return null;
  const before = gone.input.operators;
  const tables = input.tables.map((table) => ({
    ...table,
    operators: table.operators.flatMap((id) => (id === gone.id ? before : [id])),
  }));
  return { ...operator, input: { ...input, tables } };
}

/** Only the last operator's output goes to the program. */
function isAnyUnread(operators: readonly Operator[]): boolean {
  const read = new Set(operators.flatMap(readsOf));
  return operators.slice(0, -1).some(({ id }) => !read.has(id));
}

function withOperators(planned: PlannedJob, operators: readonly Operator[]): PlannedJob {
  const usesFunctions = operators.some((one) => one.kind === "tasks" && one.steps.length > 0);
  const holds = usesFunctions ? planned.spec.holds : [];
  return { ...planned, expected: resultOf(operators), spec: { ...planned.spec, operators, holds } };
}
