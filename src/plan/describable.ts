/** Whether, and by whom, the types of a plan's columns can be told without running it. */
import { type Plan, someNode } from "./plan.ts";
import type { Column } from "./source.ts";

/** Tells the types of a resolved plan's columns without running it; only asked where `isDescribable`. */
export type Describe = (plan: Plan) => Promise<readonly Column[]>;

/** Types follow from the sources alone: no function makes rows on the way. */
export function isDescribable(plan: Plan): boolean {
  return !someNode(
    plan,
    (node) =>
      (node.kind === "function" && node.form !== "filter") ||
      (node.kind === "scan" && (node.open?.columns ?? null) === null),
  );
}
