/** Leaves out columns. */
import type { Plan } from "../plan.ts";

export interface DropNode {
  readonly kind: "drop";
  readonly input: Plan;
  readonly names: readonly string[];
}

export function drop(input: Plan, names: readonly string[]): DropNode {
  return Object.freeze({ kind: "drop", input, names });
}
