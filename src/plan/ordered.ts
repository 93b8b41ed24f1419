/**
 * Whether the user asked for an order of the plan's rows: operators above a sort or a shuffle keep its order, up to the
 * next node that mixes rows. If so, a result that is kept is read back in that order.
 */
import type { Plan } from "./plan.ts";

export function isOrdered(plan: Plan): boolean {
  switch (plan.kind) {
    case "sort":
    case "shuffle":
      return true;
    case "scan":
      return plan.source.ordered === true;
    case "aggregate":
    case "distinct":
    case "join":
    case "window":
      return false;
    case "union":
      return plan.inputs.some(isOrdered);
    case "zip":
      return isOrdered(plan.left) || isOrdered(plan.right);
    case "function":
      return plan.form !== "mapGroups" && isOrdered(plan.input);
    case "repartition":
      return plan.into.kind !== "keys" && isOrdered(plan.input);
    case "sample":
      return plan.size.kind === "fraction" && isOrdered(plan.input);
    default:
      return isOrdered(plan.input);
  }
}
