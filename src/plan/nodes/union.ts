/** All rows of its inputs, one after the other; columns by name. */
import type { Plan } from "../plan.ts";

export interface UnionNode {
  readonly kind: "union";
  readonly inputs: readonly Plan[];
}

export function union(inputs: readonly Plan[]): UnionNode {
  return Object.freeze({ kind: "union", inputs });
}
