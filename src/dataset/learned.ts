/**
 * What runs have taught about functions, so that the next run starts with what the last one learned: a session keeps
 * what their tasks ask for since they ran out of memory, and a user's programs what a task takes. A stage is recognised
 * by its name and its functions, including what they capture and the options that say how much they take at once: a
 * user who changes one of them wants to see the effect. A stage without functions is recognised by its SQL. That the
 * wide kernel could not run a stage, so that it ran in another way, is remembered by the stage's name and by the stages
 * that it reads.
 */
import { createHash } from "node:crypto";
import type { Bytes, LearnedNeed, OperatorId, OperatorStats } from "../protocol/index.ts";
import type { Stages, TaskStage } from "../stages/index.ts";
import type { Engine } from "./engine.ts";

/** Of a function with more than this, the beginning and the end count: captured data may have gigabytes. */
const MOST_HASHED: Bytes = 2 ** 18;

const byEngine = new WeakMap<Engine, Map<string, LearnedNeed>>();
const keys = new WeakMap<TaskStage, string>();

export function learnedOf(engine: Engine, stage: TaskStage): LearnedNeed | null {
  const needs = byEngine.get(engine);
  return needs === undefined ? null : (needs.get(keyOf(stage)) ?? null);
}

/** What a task took in an earlier run; null: unknown, as for a stage without functions. */
export function appetiteOf(engine: Engine, stage: TaskStage): Bytes | null {
  return stage.steps.some(({ kind }) => kind === "function") ? engine.appetites.of(keyOf(stage)) : null;
}

/** The needs of all stages that have learned something. */
export function learnedBy(engine: Engine, { stages }: Stages): ReadonlyMap<OperatorId, LearnedNeed> {
  const found = new Map<OperatorId, LearnedNeed>();
  for (const [id, stage] of stages.entries()) {
    const learned = stage.kind === "tasks" ? learnedOf(engine, stage) : null;
    if (learned !== null) found.set(id, learned);
  }
  return found;
}

interface Run {
  readonly operators: readonly Pick<OperatorStats, "learned" | "appetite" | "ranAs">[];
}

const failed = new WeakMap<Engine, Set<string>>();

/** Whether the wide kernel ran out of memory for such a stage before, so that it ran in another way. */
export function failedBefore(engine: Engine, all: Stages, stage: TaskStage): boolean {
  return failed.get(engine)?.has(wayKeyOf(all, stage)) === true;
}

/** Keeps what a run of these stages has learned, after it has ended well. */
export function remember(engine: Engine, { stages }: Stages, { operators }: Run): void {
  for (const [i, stage] of stages.entries()) {
    const { learned = null, appetite = null, ranAs } = operators[i] ?? {};
    if (stage.kind !== "tasks") continue;
    if (appetite?.from === "tasks") engine.appetites.keep(keyOf(stage), appetite.bytes);
    if (ranAs === "exchange") {
      const keys = failed.get(engine) ?? new Set<string>();
      failed.set(engine, keys.add(wayKeyOf({ stages }, stage)));
    }
    if (learned === null) continue;
    const needs = byEngine.get(engine) ?? new Map<string, LearnedNeed>();
    byEngine.set(engine, needs.set(keyOf(stage), learned));
  }
}

function keyOf(stage: TaskStage): string {
  const known = keys.get(stage) ?? newKey(stage);
  keys.set(stage, known);
  return known;
}

function newKey({ name, steps, request, concurrency }: TaskStage): string {
  const hash = createHash("sha256").update(name);
  const functions = steps.flatMap((step) => (step.kind === "function" ? [step.node] : []));
  for (const { fn, options } of functions) {
    const { batchSize, maxInFlight, stream } = options;
    const { payload } = fn;
    hash
      .update(payload.subarray(0, MOST_HASHED))
      .update(payload.subarray(Math.max(MOST_HASHED, payload.length - MOST_HASHED)));
    hash.update(JSON.stringify([payload.length, batchSize, maxInFlight, stream, request, concurrency]));
  }
  // Next to functions the SQL does not count: it may read another part of the same data.
  if (functions.length === 0) for (const step of steps) if (step.kind === "sql") hash.update(step.sql);
  return hash.digest("hex");
}

/** By its name and the stages before it: the SQL of a shuffle, for example, differs from epoch to epoch. */
function wayKeyOf({ stages }: Pick<Stages, "stages">, { name, input }: TaskStage): string {
  const read = input.kind === "fed" ? input.tables.flatMap(({ operators }) => operators) : [];
  const before = read.map((id) => stages[id]);
  return JSON.stringify([name, ...before.map((one) => (one?.kind === "tasks" ? keyOf(one) : (one?.name ?? "")))]);
}
