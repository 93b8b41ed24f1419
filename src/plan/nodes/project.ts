/**
 * Computes columns. `select` names all of them; `with` keeps those of the input and replaces or appends the named ones.
 * If the input's columns are known, `drop` and `rename` become a `select`, too.
 */
import type { NamedExpression } from "../expression/index.ts";
import type { Plan } from "../plan.ts";

export interface ProjectNode {
  readonly kind: "project";
  readonly input: Plan;
  readonly mode: "select" | "with";
  readonly items: readonly NamedExpression[];
  /** The method that the user called: `select`, `withColumn`, `drop`, … */
  readonly operator: string;
}

export function project(
  input: Plan,
  mode: ProjectNode["mode"],
  items: readonly NamedExpression[],
  operator: string,
): ProjectNode {
  return Object.freeze({ kind: "project", input, mode, items, operator });
}
