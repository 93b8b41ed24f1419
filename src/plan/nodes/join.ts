/** Rows of two inputs put together where their keys are equal; nulls are equal to nothing. */
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
}

export function join(node: Omit<JoinNode, "kind">): JoinNode {
  return Object.freeze({ kind: "join", ...node });
}
