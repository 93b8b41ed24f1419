/**
 * What running out of memory has taught a session about its functions. It is kept from run to run, so that the next run
 * starts with what the last one learned. A stage is recognised by its name and its functions, including what they
 * capture and the options that say how much they take at once: a user who changes one of them wants to see the effect.
 * A stage without functions is recognised by its SQL.
 */
import { createHash } from "node:crypto";
import type { LearnedNeed, OperatorId, OperatorStats } from "../protocol/index.ts";
import type { Stages, TaskStage } from "../stages/index.ts";
import type { Engine } from "./engine.ts";

const byEngine = new WeakMap<Engine, Map<string, LearnedNeed>>();

export function learnedOf(engine: Engine, stage: TaskStage): LearnedNeed | null {
  const needs = byEngine.get(engine);
  return needs === undefined ? null : (needs.get(keyOf(stage)) ?? null);
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

interface Learnt {
  readonly operators: readonly Pick<OperatorStats, "learned">[];
}

/** Keeps what a run of these stages has learned, after it has ended well. */
export function remember(engine: Engine, { stages }: Stages, { operators }: Learnt): void {
  for (const [i, stage] of stages.entries()) {
    const learned = operators[i]?.learned ?? null;
    if (stage.kind !== "tasks" || learned === null) continue;
    const needs = byEngine.get(engine) ?? new Map<string, LearnedNeed>();
    byEngine.set(engine, needs.set(keyOf(stage), learned));
  }
}

function keyOf({ name, steps, request, concurrency }: TaskStage): string {
  const hash = createHash("sha256").update(name);
  const functions = steps.flatMap((step) => (step.kind === "function" ? [step.node] : []));
  for (const { fn, options } of functions) {
    const { batchSize, maxInFlight, stream } = options;
    hash.update(fn.payload).update(JSON.stringify([batchSize, maxInFlight, stream, request, concurrency]));
  }
  // Next to functions the SQL does not count: it may read another part of the same data.
  if (functions.length === 0) for (const step of steps) if (step.kind === "sql") hash.update(step.sql);
  return hash.digest("hex");
}
