/**
 * Combines rows of two inputs whose keys are equal (`=`); null equals nothing. The columns are, for every kind, those
 * of the left, then those of the right without `rightOn`, with the suffix if the left has the same name. In right and
 * full joins the left's keys contain coalesce(left key, right key). Semi and anti joins give rows and columns of the
 * left.
 */
import type { NameUse } from "../../protocol/index.ts";
import type { Plan } from "../plan.ts";

export type JoinKind = "inner" | "left" | "right" | "full" | "semi" | "anti" | "cross";

export interface JoinNode {
  readonly kind: "join";
  readonly left: Plan;
  readonly right: Plan;
  /** The same number as `rightOn`; none for a cross join. */
  readonly leftOn: readonly string[];
  readonly rightOn: readonly string[];
  readonly how: JoinKind;
  /** Appended to the name of a right column that is no key, if the left has the same name. */
  readonly suffix: string;
  /** What the operators above do with the names of its columns. */
  readonly uses?: readonly NameUse[];
}

export function join(node: Omit<JoinNode, "kind">): JoinNode {
  return Object.freeze({ kind: "join", ...node });
}
