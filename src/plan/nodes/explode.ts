/** A row for each item of a list column. A null or empty list gives no row. */
import type { Plan } from "../plan.ts";

export interface ExplodeNode {
  readonly kind: "explode";
  readonly input: Plan;
  readonly column: string;
}

export function explode(input: Plan, column: string): ExplodeNode {
  return Object.freeze({ kind: "explode", input, column });
}
