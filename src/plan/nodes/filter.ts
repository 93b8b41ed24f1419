/** Keeps the rows for which the predicate is true (neither null nor false). */
import type { Expression } from "../expression/index.ts";
import type { Plan } from "../plan.ts";

export interface FilterNode {
  readonly kind: "filter";
  readonly input: Plan;
  readonly predicate: Expression;
}

export function filter(input: Plan, predicate: Expression): FilterNode {
  return Object.freeze({ kind: "filter", input, predicate });
}
