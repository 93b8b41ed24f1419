/**
 * Rows of two inputs put together where their keys are equal (`=`); nulls are equal to nothing. Columns, for every
 * kind: those of the left, then those of the right without `rightOn`, with the suffix where the left has one of the
 * name. In right and full joins the left's keys hold coalesce(left key, right key). Semi and anti give the left's rows
 * and columns.
 */
import type { NameUse } from "../../protocol/index.ts";
import type { Plan } from "../plan.ts";

export type JoinKind = "inner" | "left" | "right" | "full" | "semi" | "anti" | "cross";

export interface JoinNode {
  readonly kind: "join";
  readonly left: Plan;
  readonly right: Plan;
  /** As many as `rightOn`; none for a cross join. */
  readonly leftOn: readonly string[];
  readonly rightOn: readonly string[];
  readonly how: JoinKind;
  /** Appended to the name of a right column that the left has, too, and that is no key. */
  readonly suffix: string;
  /** What the operators above it do with the names of its columns. */
  readonly uses?: readonly NameUse[];
}

export function join(node: Omit<JoinNode, "kind">): JoinNode {
  return Object.freeze({ kind: "join", ...node });
}
