/** Rows as an aligned table of text: numbers to the right, long values cut. */
import type { ValueOptions } from "../../arrow/index.ts";
import { isDate, isMap, isUint8Array } from "../../realm/index.ts";
import { positiveInteger } from "../options.ts";

const WIDEST = 40;

/** Prints the first rows and returns the text. Takes one row more, to tell whether there are more. */
export async function showRows(
  take: (rows: number, values: ValueOptions) => Promise<readonly Readonly<Record<string, unknown>>[]>,
  rows: number,
): Promise<string> {
  const wanted = positiveInteger("show", "the number of rows", rows);
  const found = await take(wanted + 1, { int64: "bigint", decimal: "string" });
  const table = tableText(found.slice(0, wanted), found.length > wanted);
  process.stdout.write(`${table}\n`);
  return table;
}

function tableText(rows: readonly Readonly<Record<string, unknown>>[], more: boolean): string {
  const [first] = rows;
  if (first === undefined) return "(no rows)";
  const names = Object.keys(first);
  const cells = rows.map((row) => names.map((name) => cellText(row[name])));
  const right = names.map((name) => rows.every((row) => isNumeric(row[name])));
  const widths = names.map((name, i) => Math.max(name.length, ...cells.map((row) => row[i]?.length ?? 0)));
  const line = (texts: readonly string[]) =>
    texts
      .map((text, i) => (right[i] === true ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0)))
      .join(" | ")
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(width)).join("-+-");
  const lines = [line(names), rule, ...cells.map(line)];
  if (more) lines.push(`(the first ${rows.length} rows)`);
  return lines.join("\n");
}

function isNumeric(value: unknown): boolean {
  return value === null || typeof value === "number" || typeof value === "bigint";
}

function cellText(value: unknown): string {
  const text = plainText(value).replace(/\s+/g, " ");
  return text.length > WIDEST ? `${text.slice(0, WIDEST - 1)}…` : text;
}

function plainText(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "string") return value;
  if (isDate(value)) return Number.isNaN(value.getTime()) ? "invalid date" : value.toISOString();
  if (isUint8Array(value)) return `${value.length} bytes`;
  if (isMap(value)) return plainText(Object.fromEntries(value));
  if (typeof value !== "object") return String(value);
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "bigint" ? String(inner) : isMap(inner) ? Object.fromEntries(inner) : inner,
  );
}
