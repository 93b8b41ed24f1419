/** The rules, in the order in which each finds most to do. */
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
  // A second time: conditions that stopped at a projection can move further after projections are merged.
  pushFilters,
  dropNoOps,
  pushLimits,
  pruneColumns,
  dropNoOps,
  nameDeepInputs,
];

const best = new WeakMap<Plan, Plan>();

/** Optimises a plan once. An optimised plan is returned unchanged. */
export function optimise(plan: Plan): Plan {
  const known = best.get(plan);
  if (known !== undefined) return known;
  const optimised = rules.reduce((current, rule) => rule(current), plan);
  best.set(plan, optimised);
  return optimised;
}
