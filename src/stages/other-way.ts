/** Whether a part of a plan that looks at all rows can do so in partitions of the rows. */
import { commonPartition, inputsOf, type Plan } from "../plan/index.ts";
import { isAllToAll } from "./sql/relation.ts";

/** Some of its nodes get smaller by it. */
export function mayBeCut(plan: Plan): boolean {
  if (isAllToAll(plan) && hasPartitions(plan)) return true;
  return plan.kind !== "function" && plan.kind !== "scan" && inputsOf(plan).some(mayBeCut);
}

function hasPartitions(plan: Plan): boolean {
  switch (plan.kind) {
    case "sort":
    case "shuffle":
    case "distinct":
      return true;
    case "aggregate":
      return plan.keys.length > 0;
    case "join":
      return plan.leftOn.length > 0;
    case "window":
      return commonPartition(plan).length > 0;
    default:
      return false;
  }
}
