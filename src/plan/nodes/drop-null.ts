/** Leaves out rows with a null in one of the columns. */
import type { Plan } from "../plan.ts";

export interface DropNullNode {
  readonly kind: "dropNull";
  readonly input: Plan;
  /** Null: any column. */
  readonly columns: readonly string[] | null;
}

export function dropNull(input: Plan, columns: readonly string[] | null): DropNullNode {
  return Object.freeze({ kind: "dropNull", input, columns });
}
