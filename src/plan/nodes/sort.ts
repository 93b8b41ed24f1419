/** All rows in an order. The operators above keep the order. */
import type { SortKey } from "../expression/index.ts";
import type { Plan } from "../plan.ts";

export interface SortNode {
  readonly kind: "sort";
  readonly input: Plan;
  readonly keys: readonly SortKey[];
}

export function sort(input: Plan, keys: readonly SortKey[]): SortNode {
  return Object.freeze({ kind: "sort", input, keys });
}
