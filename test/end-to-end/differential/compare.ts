/**
 * Rows as text that is the same for what is equal in SQL: 3 and 3.0 are, 0 and -0, a day and 24 hours; nothing else is.
 */
import type { Columns, Kind, Order } from "./step.ts";

export type Rows = readonly Readonly<Record<string, unknown>>[];

const NUMERIC: readonly (Kind | undefined)[] = ["number", "odd", "approximate"];

export function textOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "number") return Number.isInteger(value) ? String(BigInt(value)) : String(value);
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object") return String(value);
  if (value instanceof Date) return `@${value.getTime()}`;
  if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString("hex")}'`;
  if (value instanceof Map) return `Map{${[...value].map(([k, v]) => `${textOf(k)}: ${textOf(v)}`).join(", ")}}`;
  if (Array.isArray(value) || ArrayBuffer.isView(value))
    return `[${Array.from(value as Iterable<unknown>, textOf).join(", ")}]`;
  return `{${Object.entries(value)
    .map(([k, v]) => `${JSON.stringify(k)}: ${textOf(v)}`)
    .join(", ")}}`;
}

/** The order in which doubles are added shows in the last digits. */
function rounded(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  return textOf(Math.abs(value) < 1e-9 ? 0 : Number(value.toPrecision(9)));
}

/** Equal in SQL are 24 hours and a day, 30 days and a month; which of them stands for a group is not said. */
function spanText(value: object): string {
  const { months, days, nanos } = { months: 0, days: 0, nanos: 0n, ...value };
  return `${(BigInt(months) * 30n + BigInt(days)) * 86_400_000_000_000n + BigInt(nanos)} ns`;
}

export function valueText(value: unknown, kind: Kind | undefined): string {
  if (kind === "span" && typeof value === "object" && value !== null) return spanText(value);
  if (kind === "bag" && Array.isArray(value)) return `bag ${value.map(textOf).sort().join(", ")}`;
  if (value === null || value === undefined || !NUMERIC.includes(kind)) return textOf(value);
  if (kind === "approximate") return rounded(Number(value));
  // An exact decimal.
  return typeof value === "string" ? value.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "") : textOf(value);
}

function rowText(row: Rows[number], columns: Columns): string {
  const entries = Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([name, value]) => `${JSON.stringify(name)}: ${valueText(value, columns.get(name))}`).join(", ");
}

export function bagOf(rows: Rows, columns: Columns): string[] {
  return rows.map((row) => rowText(row, columns)).sort();
}

/** All that is sure about rows in this order. */
export function inOrder(rows: Rows, columns: Columns, order: Order): unknown {
  if (order === "total") return rows.map((row) => rowText(row, columns));
  const keys = rows.map((row) => order.map((name) => valueText(row[name], columns.get(name))).join(", "));
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
