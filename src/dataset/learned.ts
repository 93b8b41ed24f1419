/**
 * What running out of memory has taught a session about its functions: kept from run to run, so that the next one begins
 * where the last one ended. A stage is known again by its name and the functions in it, with what they have captured.
 */
import { createHash } from "node:crypto";
import type { JobStats, LearnedNeed } from "../protocol/index.ts";
import type { Stages, TaskStage } from "../stages/index.ts";
import type { Engine } from "./engine.ts";

const byEngine = new WeakMap<Engine, Map<string, LearnedNeed>>();

export function learnedOf(engine: Engine, stage: TaskStage): LearnedNeed | null {
  const needs = byEngine.get(engine);
  return needs === undefined ? null : (needs.get(keyOf(stage)) ?? null);
}

/** A run of these stages has ended well. */
export function remember(engine: Engine, { stages }: Stages, { operators }: JobStats): void {
  for (const [i, stage] of stages.entries()) {
    const learned = operators[i]?.learned ?? null;
    if (stage.kind !== "tasks" || learned === null) continue;
    const needs = byEngine.get(engine) ?? new Map<string, LearnedNeed>();
    byEngine.set(engine, needs.set(keyOf(stage), learned));
  }
}

function keyOf({ name, steps }: TaskStage): string {
  const hash = createHash("sha256").update(name);
  for (const step of steps) if (step.kind === "function") hash.update(step.node.fn.payload);
  return hash.digest("hex");
}
