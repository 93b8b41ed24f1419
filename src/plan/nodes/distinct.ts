/**
 * One row of those that are equal (null equals null), in all columns or in some; in the latter case any one of them,
 * whole.
 */
import type { Plan } from "../plan.ts";

export interface DistinctNode {
  readonly kind: "distinct";
  readonly input: Plan;
  /** Null: all columns. */
  readonly columns: readonly string[] | null;
}

export function distinct(input: Plan, columns: readonly string[] | null): DistinctNode {
  return Object.freeze({ kind: "distinct", input, columns });
}
