/**
 * Lets a limit save work: below functions that give one row for each row (so that no row is computed that is not
 * wanted), onto a sort (which then keeps only so many rows), into the inputs of a union, to the side of a left join
 * that gives a row for each row at least, and as a hint to a scan whose rows all pass.
 */
import type { LimitNode } from "../nodes/limit.ts";
import { limit } from "../nodes/limit.ts";
import { type Plan, rewriteUp, withInputs } from "../plan.ts";

export function pushLimits(plan: Plan): Plan {
  return rewriteUp(plan, (node) => (node.kind === "limit" ? placed(node) : node));
}

function placed(node: LimitNode): Plan {
  const below = belowOneToOne(node, node.input);
  if (below !== null) return below;
  const { input, offset, limit: rows } = node;
  const within = rows === null ? null : head(input, offset + rows);
  return within === null ? node : withInputs(node, [within]);
}

/**
 * The plan with the limit further down: under its lowest one-to-one function, or right above a sort; null where there
 * is neither. SQL alone is not worth it: under a limit it stops by itself and is better fused with the read.
 */
function belowOneToOne(node: LimitNode, plan: Plan): Plan | null {
  if (!keepsRowsOneToOne(plan)) return null;
  const deeper = belowOneToOne(node, plan.input);
  if (deeper !== null) return withInputs(plan, [deeper]);
  if (plan.kind !== "function" && plan.kind !== "repartition" && plan.input.kind !== "sort") return null;
  return withInputs(plan, [placed(limit(plan.input, node.offset, node.limit))]);
}

/** One row for each row, in the same order. */
function keepsRowsOneToOne(
  plan: Plan,
): plan is Extract<Plan, { kind: "function" | "project" | "drop" | "rename" | "repartition" }> {
  if (plan.kind === "function") return plan.form === "map" && plan.options.onError === "fail";
  if (plan.kind === "repartition") return plan.into.kind !== "keys";
  return plan.kind === "project" || plan.kind === "drop" || plan.kind === "rename";
}

/** The plan with no more than its first rows made, where that saves any; whoever asks takes no others. */
function head(plan: Plan, rows: number): Plan | null {
  switch (plan.kind) {
    case "scan":
      if (plan.filters.length > 0 || plan.samples.length > 0) return null;
      return Object.freeze({ ...plan, limit: Math.min(rows, plan.limit ?? rows) });
    case "project":
    case "drop":
    case "rename": {
      const input = head(plan.input, rows);
      return input === null ? null : withInputs(plan, [input]);
    }
    case "union": {
      const inputs = plan.inputs.map((input) => first(input, rows));
      return inputs.some((input) => input !== null)
        ? withInputs(
            plan,
            inputs.map((input, i) => input ?? plan.inputs[i] ?? plan),
          )
        : null;
    }
    case "join": {
      // The order of a join's rows is not said, so that any of them are its first.
      if (plan.how !== "left") return null;
      const left = placed(limit(plan.left, 0, rows));
      return withInputs(plan, [left, plan.right]);
    }
    default:
      return null;
  }
}

/**
 * An input of a union: what is above a function of its own is best limited below it. Rows that a function makes are
 * limited in its own tasks, since it may make them slowly, or without end.
 */
function first(plan: Plan, rows: number): Plan | null {
  const limited = limit(plan, 0, rows);
  return belowOneToOne(limited, plan) ?? head(plan, rows) ?? (isMadeByFunction(plan) ? placed(limited) : null);
}

/** A function made the rows, whatever was done to each of them after it. */
function isMadeByFunction(plan: Plan): boolean {
  switch (plan.kind) {
    case "function":
      return true;
    case "filter":
    case "project":
    case "drop":
    case "rename":
    case "explode":
    case "fillNull":
    case "dropNull":
      return isMadeByFunction(plan.input);
    default:
      return false;
  }
}
