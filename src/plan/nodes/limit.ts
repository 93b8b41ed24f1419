/** Rows [offset, offset + limit) in plan order. */
import type { Plan } from "../plan.ts";

export interface LimitNode {
  readonly kind: "limit";
  readonly input: Plan;
  readonly offset: number;
  /** Null: all rows that follow. */
  readonly limit: number | null;
}

export function limit(input: Plan, offset: number, rows: number | null): LimitNode {
  return Object.freeze({ kind: "limit", input, offset, limit: rows });
}
