/**
 * Lets a limit save work. It moves below functions that give one row for each row (so that no unwanted row is
 * computed), onto a sort (which then keeps only that many rows), into the inputs of a union, to the left input of a
 * left join (which gives at least one row for each of its rows), and as a hint into a scan whose rows all pass.
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
 * The plan with the limit further down: under its lowest one-to-one function, or right above a sort; null if it has
 * neither. A limit above SQL alone stays where it is: the SQL stops by itself when the limit is reached, and can be
 * part of the stage that reads.
 */
function belowOneToOne(node: LimitNode, plan: Plan): Plan | null {
  if (!keepsRowsOneToOne(plan)) return null;
  const deeper = belowOneToOne(node, plan.input);
  if (deeper !== null) return withInputs(plan, [deeper]);
  if (plan.kind !== "function" && plan.kind !== "repartition" && plan.input.kind !== "sort") return null;
  return withInputs(plan, [placed(limit(plan.input, node.offset, node.limit))]);
}

/** Gives one row for each row, in the same order. */
function keepsRowsOneToOne(
  plan: Plan,
): plan is Extract<Plan, { kind: "function" | "project" | "drop" | "rename" | "repartition" }> {
  if (plan.kind === "function") return plan.form === "map" && plan.options.onError === "fail";
  if (plan.kind === "repartition") return plan.into.kind !== "keys";
  return plan.kind === "project" || plan.kind === "drop" || plan.kind === "rename";
}

/** The plan, making only its first rows if that saves work. The caller takes no other rows. */
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
      // A join's rows have no defined order, so any of its rows can be the first.
      if (plan.how !== "left") return null;
      const left = placed(limit(plan.left, 0, rows));
      return withInputs(plan, [left, plan.right]);
    }
    default:
      return null;
  }
}

/**
 * For an input of a union: operators above a function of its own are best limited below it. Rows that a function makes
 * are limited in the function's tasks, because it may make them slowly or without end.
 */
function first(plan: Plan, rows: number): Plan | null {
  const limited = limit(plan, 0, rows);
  return belowOneToOne(limited, plan) ?? head(plan, rows) ?? (isMadeByFunction(plan) ? placed(limited) : null);
}

/** A function made the rows, and only row-wise operators follow it. */
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
