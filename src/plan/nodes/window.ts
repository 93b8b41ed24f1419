/**
 * Computes columns as a projection does, and at least one of them of other rows (`sum(x) OVER (…)`). Of each row it
 * makes one, in no order that is said; it needs all rows, or all that have its partition's keys.
 */
import type { NamedExpression } from "../expression/index.ts";
import type { Plan } from "../plan.ts";
import type { ProjectNode } from "./project.ts";

export interface WindowNode {
  readonly kind: "window";
  readonly input: Plan;
  readonly mode: ProjectNode["mode"];
  readonly items: readonly NamedExpression[];
  /** What the user called: `select`, `withColumn`, `filter`. */
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
