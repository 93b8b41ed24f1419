/** Rows as text that is the same for what is equal in SQL: 3 and 3.0 are, and 0 and -0. */
import type { Columns, Order } from "./step.ts";

export type Rows = readonly Readonly<Record<string, unknown>>[];

export function textOf(value: unknown): string {
  return JSON.stringify(value, (_, v) => {
    if (typeof v === "bigint") return Number(v);
    if (typeof v !== "number") return v;
    // The order in which doubles are added shows in the last digits.
    return Number.isFinite(v) ? (Math.abs(v) < 1e-9 ? 0 : Number(v.toPrecision(9))) : String(v);
  });
}

function rowText(row: Rows[number], columns: Columns): string {
  const entries = Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1));
  return textOf(
    entries.map(([name, value]) => {
      const bag = columns.get(name) === "bag" && Array.isArray(value);
      return [name, bag ? value.map(textOf).sort() : value];
    }),
  );
}

export function bagOf(rows: Rows, columns: Columns): string[] {
  return rows.map((row) => rowText(row, columns)).sort();
}

/** All that is sure about rows in this order. */
export function inOrder(rows: Rows, columns: Columns, order: Order): unknown {
  if (order === "total") return rows.map((row) => rowText(row, columns));
  const keys = rows.map((row) => textOf(order.map((name) => row[name])));
  return { rows: bagOf(rows, columns), keys };
}

/** The first text that is more often in these than in the others. */
export function notAmong(some: readonly string[], all: readonly string[]): string | null {
  const left = new Map<string, number>();
  for (const each of all) left.set(each, (left.get(each) ?? 0) + 1);
  for (const each of some) {
    const n = left.get(each) ?? 0;
    if (n === 0) return each;
    left.set(each, n - 1);
  }
  return null;
}
