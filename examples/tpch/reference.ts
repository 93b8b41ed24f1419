/** The same queries in SQL, for DuckDB on its own over the same files; and whether two answers are the same. */
import { readFile } from "node:fs/promises";
import type { QueryName } from "./queries.ts";
import type { TableFiles } from "./tables.ts";

export type Rows = readonly Readonly<Record<string, unknown>>[];

/** The statements that make the tables known by their names. */
export function viewsOf(files: TableFiles): string[] {
  return Object.entries(files).map(([name, paths]) => {
    const list = paths.map((path) => `'${path.replaceAll("'", "''")}'`).join(", ");
    return `CREATE VIEW ${name} AS SELECT * FROM read_parquet([${list}])`;
  });
}

export async function sqlOf(query: QueryName, scale: number, directory: URL = SQL): Promise<string> {
  const text = await readFile(new URL(`${query}.sql`, directory), "utf8");
  return text.replace("{fraction}", `${0.0001 / scale}`);
}

const SQL = new URL("sql/", import.meta.url);
const TOLERANCE = 1e-9;

/**
 * In words; empty when they are the same, row by row: every query with more than one row says their order. Means and
 * quotients are floats and depend on the order of summing, so numbers may differ in the tenth digit.
 */
export function differences(ours: Rows, reference: Rows): string[] {
  if (ours.length !== reference.length) return [`${ours.length} rows instead of ${reference.length}`];
  return reference.flatMap((row, i) => {
    const found = ours[i] ?? {};
    const names = new Set([...Object.keys(row), ...Object.keys(found)]);
    return [...names]
      .filter((name) => !same(found[name], row[name]))
      .map((name) => `row ${i}, ${name}: ${String(found[name])} instead of ${String(row[name])}`);
  });
}

function same(ours: unknown, reference: unknown): boolean {
  const [a, b] = [plain(ours), plain(reference)];
  if (typeof a !== "number" || typeof b !== "number") return a === b;
  return a === b || Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}

/** Dates may come as text, whole numbers as bigints. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString().slice(0, 10);
  return typeof value === "bigint" ? Number(value) : value;
}
