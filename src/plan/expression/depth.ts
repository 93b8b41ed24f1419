/**
 * How deeply expressions are nested, counting only parts that may be computed separately. A part that SQL may not
 * evaluate at all stays in one piece.
 */
import type { CallName } from "./calls.ts";
import type { Expression } from "./expression.ts";

/**
 * The kernel plans an expression of this depth in almost no time, and one of depth 100 in 0.2 s; the time grows with
 * the third power.
 */
export const MAX_DEPTH = 24;

export function isDeep(expression: Expression): boolean {
  return !isWithin(expression, MAX_DEPTH);
}

const MAY_STOP_EARLY: ReadonlySet<CallName> = new Set(["and", "or", "coalesce"]);

/** Whatever the values are, all direct children are computed, row by row. */
export function computesAll(expression: Expression): boolean {
  return expression.kind === "cast" || (expression.kind === "call" && !MAY_STOP_EARLY.has(expression.name));
}

/** Stops as soon as the answer is known. */
function isWithin(expression: Expression, most: number): boolean {
  if (!computesAll(expression)) return true;
  if (most === 0) return false;
  if (expression.kind === "cast") return isWithin(expression.input, most - 1);
  return expression.kind !== "call" || expression.args.every((child) => isWithin(child, most - 1));
}
