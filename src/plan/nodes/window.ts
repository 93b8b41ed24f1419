/**
 * Computes columns as a projection does, of which at least one looks at other rows (`sum(x) OVER (…)`). Gives one row
 * for each row, in no particular order. Needs all rows, or all rows with its partition's keys.
 */
import type { NamedExpression } from "../expression/index.ts";
import type { Plan } from "../plan.ts";
import type { ProjectNode } from "./project.ts";

export interface WindowNode {
  readonly kind: "window";
  readonly input: Plan;
  readonly mode: ProjectNode["mode"];
  readonly items: readonly NamedExpression[];
  /** The method that the user called: `select`, `withColumn`, `filter`. */
  readonly operator: string;
}

export function window(
  input: Plan,
  mode: WindowNode["mode"],
  items: readonly NamedExpression[],
  operator: string,
): WindowNode {
  return Object.freeze({ kind: "window", input, mode, items, operator });
}
