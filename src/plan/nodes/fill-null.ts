/** Replaces nulls by a value: one value for every column whose type fits, or one for each column. */
import type { Literal } from "../expression/index.ts";
import type { Plan } from "../plan.ts";

export interface FillNullNode {
  readonly kind: "fillNull";
  readonly input: Plan;
  readonly fill:
    | { readonly kind: "everywhere"; readonly value: Literal }
    | { readonly kind: "columns"; readonly values: ReadonlyMap<string, Literal> };
}

export function fillNull(input: Plan, fill: FillNullNode["fill"]): FillNullNode {
  return Object.freeze({ kind: "fillNull", input, fill });
}
