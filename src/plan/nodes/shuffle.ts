/** All rows in an order drawn by a seed. */
import type { Plan } from "../plan.ts";

export interface ShuffleNode {
  readonly kind: "shuffle";
  readonly input: Plan;
  readonly seed: number;
}

export function shuffle(input: Plan, seed: number): ShuffleNode {
  return Object.freeze({ kind: "shuffle", input, seed });
}
