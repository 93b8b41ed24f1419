/**
 * Lets a limit save work: below functions that give one row for each row (so that no row is computed that is not
 * wanted), and as a hint to a scan whose rows all pass.
 */
import type { LimitNode } from "../nodes/limit.ts";
import { limit } from "../nodes/limit.ts";
import { type Plan, rewriteUp, withInputs } from "../plan.ts";

export function pushLimits(plan: Plan): Plan {
  return rewriteUp(plan, (node) => (node.kind === "limit" ? hintScan(belowFunctions(node, node.input) ?? node) : node));
}

/** The plan with the limit under its lowest one-to-one function; null where there is none to go under. */
function belowFunctions(node: LimitNode, plan: Plan): Plan | null {
  if (!keepsRowsOneToOne(plan)) return null;
  const deeper = belowFunctions(node, plan.input);
  if (deeper !== null) return withInputs(plan, [deeper]);
  // Only functions are worth it: SQL under a limit stops by itself and is better fused with the read.
  return plan.kind === "function" ? withInputs(plan, [limit(plan.input, node.offset, node.limit)]) : null;
}

function keepsRowsOneToOne(plan: Plan): plan is Extract<Plan, { kind: "function" | "project" | "drop" | "rename" }> {
  if (plan.kind === "function") return plan.form === "map" && plan.options.onError === "fail";
  return plan.kind === "project" || plan.kind === "drop" || plan.kind === "rename";
}

function hintScan(plan: Plan): Plan {
  return rewriteUp(plan, (node) => {
    if (node.kind !== "limit" || node.limit === null) return node;
    const hinted = hint(node.input, node.offset + node.limit);
    return hinted === null ? node : withInputs(node, [hinted]);
  });
}

function hint(plan: Plan, rows: number): Plan | null {
  if (plan.kind === "scan") {
    if (plan.filters.length > 0 || plan.samples.length > 0) return null;
    return Object.freeze({ ...plan, limit: Math.min(rows, plan.limit ?? rows) });
  }
  if (plan.kind !== "project" && plan.kind !== "drop" && plan.kind !== "rename") return null;
  const input = hint(plan.input, rows);
  return input === null ? null : withInputs(plan, [input]);
}
