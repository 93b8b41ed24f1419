/** A row for each combination of the keys, or one row in all where there are no keys. */
import type { NamedExpression } from "../expression/index.ts";
import type { Plan } from "../plan.ts";

export interface AggregateNode {
  readonly kind: "aggregate";
  readonly input: Plan;
  /** Row-wise expressions. */
  readonly keys: readonly NamedExpression[];
  /** Expressions over aggregates (`sum(x) / count(*)`); every column in them is inside an aggregate, or a key. */
  readonly items: readonly NamedExpression[];
}

export function aggregate(
  input: Plan,
  keys: readonly NamedExpression[],
  items: readonly NamedExpression[],
): AggregateNode {
  return Object.freeze({ kind: "aggregate", input, keys, items });
}
