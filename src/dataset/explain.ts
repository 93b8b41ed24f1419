/** A plan before and after the rules, and the stages that run: with their SQL, what is skipped, where fusion stopped. */
import { optimise, type Plan, planLines } from "../plan/index.ts";
import { buildStages, stageLines } from "../stages/index.ts";
import type { Engine } from "./engine.ts";
import { planningOf, resolved } from "./run.ts";

export async function explainText(engine: Engine, plan: Plan): Promise<string> {
  const best = optimise(await resolved(engine, plan));
  const stages = await buildStages(best, false, planningOf(engine));
  const section = (title: string, lines: readonly string[]) => [title, ...lines.map((line) => `  ${line}`)];
  return [
    ...section("Logical plan", planLines(plan)),
    ...section("Optimised plan", planLines(best)),
    ...section("Physical plan", stageLines(stages)),
  ].join("\n");
}
