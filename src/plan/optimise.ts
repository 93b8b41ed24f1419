/** The rules in the order in which each finds most to do. */
import type { Plan } from "./plan.ts";
import {
  dropNeedlessOrder,
  dropNoOps,
  foldConstants,
  mergeProjections,
  nameDeepInputs,
  pruneColumns,
  pushFilters,
  pushLimits,
  pushSamples,
} from "./rules/index.ts";

const rules: readonly ((plan: Plan) => Plan)[] = [
  dropNoOps,
  foldConstants,
  dropNeedlessOrder,
  pushFilters,
  pushSamples,
  mergeProjections,
  // Merged projections let conditions that stopped at one go further.
  pushFilters,
  dropNoOps,
  pushLimits,
  pruneColumns,
  dropNoOps,
  nameDeepInputs,
];

export function optimise(plan: Plan): Plan {
  return rules.reduce((current, rule) => rule(current), plan);
}
