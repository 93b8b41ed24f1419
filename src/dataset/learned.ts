/**
 * What running out of memory has taught a session about its functions: kept from run to run, so that the next one
 * begins where the last one ended. A stage is known again by its name and the functions in it, with what they have
 * captured and the options that say how much they take at once: whoever has changed one of them wants to see what that
 * does. One without functions is known by its SQL.
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

/** Of all stages that have learned something. */
export function learnedBy(engine: Engine, { stages }: Stages): ReadonlyMap<OperatorId, LearnedNeed> {
  const found = new Map<OperatorId, LearnedNeed>();
  for (const stage of stages) {
    const learned = stage.kind === "tasks" ? learnedOf(engine, stage) : null;
    if (learned !== null) found.set(stage.id, learned);
  }
  return found;
}

interface Learnt {
  readonly operators: readonly Pick<OperatorStats, "learned">[];
}

/** A run of these stages has ended well. */
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
  // What is read beside functions may be another part of the same data.
  if (functions.length === 0) for (const step of steps) if (step.kind === "sql") hash.update(step.sql);
  return hash.digest("hex");
}
