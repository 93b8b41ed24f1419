/**
 * What a task of an operator takes, as far as that was seen: memory that it adds to what its worker has without it. It
 * is known for operators with functions; what the kernel takes is bounded by its lease.
 *
 *   unknown ──first task──▶ on trial: the other tasks wait ──its first batch, or its end──▶ known
 *                              │  ▲
 *                           200 ms: one more task, then two, four … as long as no batch is through; but a batch
 *                           that has taken much already is waited for, 2 s at most
 *
 * From then on each batch and each task that ends correct it: the most of the last tasks and a margin, so it also falls
 * when large tasks are long gone. What it means for other tasks is decided in memory/forecast.ts.
 */
import type { Appetite, Bytes, Milliseconds } from "../../protocol/index.ts";
import { note, type OperatorState, type State } from "../state/index.ts";

/** How long tasks wait for the first batch of the first one, before as many again may start. */
const TRIAL: Milliseconds = 200;
/** How long they wait for a batch that has taken much already, and how much is much. */
const LONG_TRIAL: Milliseconds = 2_000;
const MUCH: Bytes = 32 * 2 ** 20;
/** How many tasks count. */
const LAST_TASKS = 16;
/** Tasks differ: the less that was seen of them, the more. */
const MARGIN = 1.1;
const MARGIN_OF_ONE = 1.25;
/** A batch that is not through may be in the middle of what it takes. */
const MARGIN_OF_PART = 2;
/** Smaller changes are not worth an event. */
const NOTABLE = 0.1;

/** Nothing is known of what its tasks take, and the user has not said it. */
export function isUnknown({ spec, needs }: OperatorState): boolean {
  return needs.countsAppetite && needs.appetite === null && spec.kind === "tasks" && spec.request.memory === 0;
}

/** Its first task begins: the others wait. */
export function beginTrial(state: State, operator: OperatorState): void {
  operator.needs.trial = { since: state.now, until: state.now + TRIAL, tasks: 1 };
  state.trials.add(operator);
}

/** Whether its next task waits for the first batch. */
export function isOnTrial({ needs: { trial }, phases }: OperatorState): boolean {
  return trial !== null && phases.running.size >= trial.tasks;
}

export function trialDeadline({ trials }: State): Milliseconds {
  let at = Number.POSITIVE_INFINITY;
  for (const { needs } of trials) at = Math.min(at, needs.trial?.until ?? at);
  return at;
}

/**
 * Trials go on or end. `takenBy` is the most that a task has taken so far, which is all that is known where a first
 * batch is slow: then more tasks start step by step, and no more than fit by that.
 */
export function stepTrials(state: State, takenBy: (operator: OperatorState) => Bytes): void {
  for (const operator of state.trials) {
    const { trial, took } = operator.needs;
    const isOver = operator.ended || took.length > 0 || operator.phases.running.size === 0;
    if (trial === null || isOver || trial.tasks >= state.options.workers) {
      state.trials.delete(operator);
      operator.needs.trial = null;
    } else if (state.now >= trial.until) {
      const taken = takenBy(operator);
      const isHeavy = taken >= MUCH && state.now - trial.since < LONG_TRIAL;
      operator.needs.trial = { ...trial, until: state.now + TRIAL, tasks: isHeavy ? trial.tasks : 2 * trial.tasks };
      expect(state, operator, { bytes: taken * MARGIN_OF_PART, from: "batch" });
    }
  }
}

/** A task that goes on has taken so much: it may take more, so the appetite only grows. */
export function batchTook(state: State, operator: OperatorState, bytes: Bytes): void {
  if (!operator.needs.countsAppetite) return;
  const { appetite, took } = operator.needs;
  const known = appetite?.from === "earlier" ? appetite.bytes : 0;
  if (bytes <= Math.max(known, ...took)) return;
  tookSoMuch(state, operator, bytes, appetite?.from === "tasks" ? "tasks" : "batch");
}

/** A task has ended. `isAll`: this is all that it took; otherwise it may also have used what others had left. */
export function taskTook(state: State, operator: OperatorState, bytes: Bytes, isAll: boolean): void {
  if (!operator.needs.countsAppetite) return;
  const { appetite } = operator.needs;
  operator.needs.mostTook = Math.max(operator.needs.mostTook, bytes);
  if (!isAll && appetite !== null && bytes <= appetite.bytes) return;
  tookSoMuch(state, operator, bytes, "tasks");
}

/** From now on its tasks work in another way. */
export function forgetAppetite({ needs }: OperatorState): void {
  needs.appetite = null;
  needs.took.length = 0;
}

function tookSoMuch(state: State, operator: OperatorState, bytes: Bytes, from: Appetite["from"]): void {
  const { needs } = operator;
  const before = needs.appetite;
  // One task is no proof that an earlier run was wrong.
  if (before?.from === "earlier" && needs.took.length === 0) needs.took.push(before.bytes / MARGIN);
  needs.took.push(bytes);
  if (needs.took.length > LAST_TASKS) needs.took.shift();
  const margin = needs.took.length === 1 ? MARGIN_OF_ONE : MARGIN;
  expect(state, operator, { bytes: Math.ceil(Math.max(...needs.took) * margin), from });
}

function expect(state: State, { needs, job, spec }: OperatorState, appetite: Appetite): void {
  const before = needs.appetite;
  needs.appetite = appetite;
  if (before?.from === appetite.from && Math.abs(before.bytes - appetite.bytes) <= NOTABLE * before.bytes) return;
  note(state, { type: "appetite", job: job.id, operator: spec.id, appetite });
}
