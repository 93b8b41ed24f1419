/** Two inputs side by side, row by row in plan order. Different numbers of rows are an error at run time. */
import type { NameUse } from "../../protocol/index.ts";
import type { Plan } from "../plan.ts";

export interface ZipNode {
  readonly kind: "zip";
  readonly left: Plan;
  readonly right: Plan;
  /** Appended to the name of a right column if the left has the same name. */
  readonly suffix: string;
  /** What the operators above do with the names of its columns. */
  readonly uses?: readonly NameUse[];
}

export function zip(left: Plan, right: Plan, suffix: string): ZipNode {
  return Object.freeze({ kind: "zip", left, right, suffix });
}
