/** Whether the types of a plan's columns can be found without running it, and the function that finds them. */
import { type Plan, someNode } from "./plan.ts";
import type { Column } from "./source.ts";

/** Finds the types of a resolved plan's columns without running it. Only called for a plan that `isDescribable`. */
export type Describe = (plan: Plan) => Promise<readonly Column[]>;

/** The types follow from the sources alone: no function makes rows in between. */
export function isDescribable(plan: Plan): boolean {
  return !someNode(
    plan,
    (node) =>
      (node.kind === "function" && node.form !== "filter") ||
      (node.kind === "scan" && (node.open?.columns ?? null) === null),
  );
}
