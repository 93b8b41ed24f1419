/**
 * Reduces many rows to an answer that can be compared: for each column a sum in which every row has its own weight, so
 * that rows in another order give another sum. Only for rows whose order is defined.
 */
import type { Answer } from "../workload.ts";

export function answerOfRows(rows: readonly Readonly<Record<string, unknown>>[]): Answer {
  const names = Object.keys(rows[0] ?? {});
  const sums = names.map((name) => [name, rows.reduce((sum, row, i) => sum + weight(i) * numberOf(row[name]), 0)]);
  return { rows: rows.length, ...Object.fromEntries(sums) };
}

/** Small, so that the values of one row do not drown in those of others. */
const weight = (row: number): number => 1 + (row % 97) / 97;

function numberOf(value: unknown): number {
  if (typeof value === "number") return value;
  if (value === null || value === undefined) return -1;
  if (value instanceof Date) return hash(value.toISOString().slice(0, 10));
  return typeof value === "bigint" ? Number(value) : hash(String(value));
}

function hash(text: string): number {
  let hashed = 0;
  for (let i = 0; i < text.length; i++) hashed = (Math.imul(hashed, 31) + text.charCodeAt(i)) >>> 0;
  return hashed;
}
