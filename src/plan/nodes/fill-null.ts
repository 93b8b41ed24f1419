/** Puts a value in place of nulls: one for every column whose type takes it, or one by column. */
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
