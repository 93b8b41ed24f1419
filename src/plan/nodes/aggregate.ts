/** One row for each combination of the keys, or a single row if there are no keys. */
import type { NamedExpression } from "../expression/index.ts";
import type { Plan } from "../plan.ts";

export interface AggregateNode {
  readonly kind: "aggregate";
  readonly input: Plan;
  /** Row-wise expressions. */
  readonly keys: readonly NamedExpression[];
  /**
   * Expressions over aggregates (`sum(x) / count(*)`). As the user wrote them, they may also contain keys. After
   * resolving, every column is inside an aggregate (or in raw SQL, which may be an aggregate itself).
   */
  readonly items: readonly NamedExpression[];
}

export function aggregate(
  input: Plan,
  keys: readonly NamedExpression[],
  items: readonly NamedExpression[],
): AggregateNode {
  return Object.freeze({ kind: "aggregate", input, keys, items });
}
