/** Some of the rows, chosen by a seeded hash: the same seed over the same data gives the same rows. */
import type { Plan } from "../plan.ts";

export interface SampleNode {
  readonly kind: "sample";
  readonly input: Plan;
  readonly size:
    | { readonly kind: "fraction"; readonly fraction: number }
    | { readonly kind: "rows"; readonly rows: number };
  readonly seed: number;
}

export function sample(input: Plan, size: SampleNode["size"], seed: number): SampleNode {
  return Object.freeze({ kind: "sample", input, size, seed });
}
