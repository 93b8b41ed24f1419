/** How deep expressions are nested, as far as they may be cut: what SQL may not compute at all stays in one piece. */
import type { CallName } from "./calls.ts";
import type { Expression } from "./expression.ts";

/**
 * The kernel plans an expression of this depth in no time, and one of a hundred in 0.2 s; it grows with the third
 * power.
 */
export const MAX_DEPTH = 24;

export function isDeep(expression: Expression): boolean {
  return !isWithin(expression, MAX_DEPTH);
}

const MAY_STOP_EARLY: ReadonlySet<CallName> = new Set(["and", "or", "coalesce"]);

/** Whatever the values are, all of what is directly inside is computed, and row by row. */
export function computesAll(expression: Expression): boolean {
  return expression.kind === "cast" || (expression.kind === "call" && !MAY_STOP_EARLY.has(expression.name));
}

/** Looks no further than it must. */
function isWithin(expression: Expression, most: number): boolean {
  if (!computesAll(expression)) return true;
  if (most === 0) return false;
  if (expression.kind === "cast") return isWithin(expression.input, most - 1);
  return expression.kind !== "call" || expression.args.every((child) => isWithin(child, most - 1));
}
