/**
 * What Parquet footers say: the row groups with their rows, the bytes of the wanted columns, and whether a row may
 * satisfy the conditions by the statistics. Without statistics a row may.
 */
import { quoteText } from "../../arrow/index.ts";
import { KernelError } from "../../errors/index.ts";
import { type Column, type Expression, literalSql } from "../../plan/index.ts";
import type { Bytes, InspectedRow } from "../../protocol/index.ts";
import { isDate } from "../../realm/index.ts";
import type { Engine } from "../engine.ts";
import { bytesOf, type SourceFile } from "./files.ts";
import { inspectFiles } from "./kept-facts.ts";
import { pathListSql } from "./kernel-paths.ts";
import { inSourceWords } from "./kernel-words.ts";

export interface RowGroup {
  readonly path: string;
  /** The position of the group's first row in the file. */
  readonly start: number;
  readonly rows: number;
  readonly bytes: Bytes;
  readonly mayMatch: boolean;
}

/** Footers are read by all workers at once; a few files in a question keep all of them busy. */
const FILES_PER_QUERY = 16;
/** A column that says whether a file's statistics can be trusted about NaN. */
const NAN_SAFE = "nan_safe";

export async function readRowGroups(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  columns: readonly string[] | null,
  condition: string,
): Promise<readonly RowGroup[]> {
  const column = "split_part(path_in_schema, ', ', 1)";
  const bytes = columns === null ? "TRUE" : `${column} IN (${columns.map(quoteText).join(", ") || "NULL"})`;
  const bundles: (readonly SourceFile[])[] = [];
  for (let at = 0; at < files.length; at += FILES_PER_QUERY) bundles.push(files.slice(at, at + FILES_PER_QUERY));
  const found = await Promise.all(
    bundles.map(async (some) => {
      const groups = (from: readonly SourceFile[]) =>
        `SELECT file_name AS path, row_group_id AS id, any_value(row_group_num_rows) AS rows, sum(CASE WHEN ${bytes} THEN total_uncompressed_size ELSE 0 END) AS bytes, bool_and(${condition}) AS matches FROM ${metadataSql(from, condition)} GROUP BY ALL`;
      return placed(some, (await inspected(engine, some, groups)).map(rowGroup));
    }),
  );
  return found.flat();
}

/**
 * The kernel makes texts of all statistics, and fails for values without a text, such as the earliest instants of a
 * TIMESTAMP_NS. A file with such values is read in one piece.
 */
async function inspected(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  groups: (files: readonly SourceFile[]) => string,
): Promise<readonly InspectedRow[]> {
  const ask = (sql: string) => inSourceWords("readParquet", files, () => inspectFiles(engine, files, sql));
  try {
    return await inspectFiles(engine, files, groups(files));
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    if (error.kind !== "Conversion") return ask(groups(files));
    if (files.length > 1) return (await Promise.all(files.map((file) => inspected(engine, [file], groups)))).flat();
    return ask(
      `SELECT file_name AS path, 0 AS id, num_rows AS rows, ${bytesOf(files)} AS bytes, TRUE AS matches FROM parquet_file_metadata(${pathListSql(files)})`,
    );
  }
}

function rowGroup(row: InspectedRow): FoundGroup {
  return {
    path: String(row.path),
    id: Number(row.id),
    rows: Number(row.rows),
    bytes: Number(row.bytes),
    mayMatch: row.matches !== false,
  };
}

function metadataSql(files: readonly SourceFile[], condition: string): string {
  const list = pathListSql(files);
  if (!condition.includes(NAN_SAFE)) return `parquet_metadata(${list})`;
  const writers = `SELECT file_name, created_by LIKE 'DuckDB%' AS ${NAN_SAFE} FROM parquet_file_metadata(${list})`;
  return `(SELECT * FROM parquet_metadata(${list}) JOIN (${writers}) USING (file_name))`;
}

interface FoundGroup extends Omit<RowGroup, "start"> {
  readonly id: number;
}

function placed(files: readonly SourceFile[], found: readonly FoundGroup[]): readonly RowGroup[] {
  const byPath = new Map<string, FoundGroup[]>();
  for (const group of found) {
    const list = byPath.get(group.path);
    if (list === undefined) byPath.set(group.path, [group]);
    else list.push(group);
  }
  return files.flatMap((file) => {
    let start = 0;
    return (byPath.get(file.path) ?? [])
      .sort((a, b) => a.id - b.id)
      .map(({ id: _, ...group }) => {
        const at = start;
        start += group.rows;
        return { ...group, start: at };
      });
  });
}

/**
 * SQL over a row of `parquet_metadata` (one column of one row group). It is false only if the statistics rule out every
 * row. `columns`: those that are read with the type that they have in the file.
 */
export function mayMatchSql(filters: readonly Expression[], columns: readonly Column[]): string {
  const conditions = filters.flatMap((filter) => {
    const names = new Set<string>();
    const condition = possible(filter, columns, names);
    const [name] = names;
    if (condition === null || name === undefined || names.size !== 1) return [];
    return [`(path_in_schema <> ${quoteText(name)} OR coalesce(TRY(${condition}), TRUE))`];
  });
  return conditions.length === 0 ? "TRUE" : conditions.join(" AND ");
}

type Comparison = "eq" | "lt" | "le" | "gt" | "ge";
const mirrored: Readonly<Record<Comparison, Comparison>> = { eq: "eq", lt: "gt", le: "ge", gt: "lt", ge: "le" };
const isComparison = (name: string): name is Comparison => name in mirrored;

/** Null if the statistics cannot tell. `names` collects the columns that the filter mentions; there may be only one. */
function possible(filter: Expression, columns: readonly Column[], names: Set<string>): string | null {
  if (filter.kind !== "call") return null;
  const { name, args } = filter;
  if (name === "or" || name === "and") {
    const parts = args.map((arg) => possible(arg, columns, names));
    const told = parts.filter((part) => part !== null);
    if (name === "or" && told.length < parts.length) return null;
    return told.length === 0 ? null : `(${told.join(name === "or" ? " OR " : " AND ")})`;
  }
  const [first, second] = args;
  if (isComparison(name) && first !== undefined && second !== undefined) {
    return first.kind === "literal"
      ? compared(second, mirrored[name], first, columns, names)
      : compared(first, name, second, columns, names);
  }
  if (name === "in" && first !== undefined) {
    const parts = args.slice(1).map((value) => compared(first, "eq", value, columns, names));
    return parts.length === 0 || parts.length > 200 || parts.includes(null) ? null : `(${parts.join(" OR ")})`;
  }
  if ((name === "isNull" || name === "isNotNull") && first?.kind === "column") {
    const found = columns.find((column) => column.name === first.name);
    if (found === undefined) return null;
    names.add(first.name);
    return name === "isNull" ? "(stats_null_count > 0)" : "(stats_null_count < num_values)";
  }
  return null;
}

function compared(
  left: Expression,
  comparison: Comparison,
  right: Expression,
  columns: readonly Column[],
  names: Set<string>,
): string | null {
  if (left.kind !== "column" || right.kind !== "literal") return null;
  const column = columns.find(({ name }) => name === left.name);
  if (column === undefined || !comparable(column.type, right.value)) return null;
  names.add(left.name);
  const low = `TRY_CAST(stats_min_value AS ${column.type})`;
  const high = `TRY_CAST(stats_max_value AS ${column.type})`;
  const value = literalSql(right.value, true);
  const isFloat = column.type === "DOUBLE" || column.type === "FLOAT";
  switch (comparison) {
    case "eq":
      return `(${low} <= ${value} AND ${high} >= ${value})`;
    case "lt":
      return `(${low} < ${value})`;
    case "le":
      return `(${low} <= ${value})`;
    case "gt":
    case "ge":
      // NaN is above everything in SQL, and most writers leave it out of their statistics. DuckDB writes no statistics
      // for such a group.
      return `(${isFloat ? `NOT ${NAN_SAFE} OR ` : ""}${high} ${comparison === "gt" ? ">" : ">="} ${value})`;
  }
}

/** Values that are compared with the column in the order of its statistics. */
function comparable(type: string, value: unknown): boolean {
  if (typeof value === "number")
    return !Number.isNaN(value) && /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\b.*)$/.test(type);
  if (typeof value === "bigint") return /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|DECIMAL\b.*)$/.test(type);
  if (typeof value === "string") return type === "VARCHAR" || type === "DATE" || type === "TIMESTAMP";
  if (isDate(value)) return type === "DATE" || /^TIMESTAMP( WITH TIME ZONE)?$/.test(type);
  return typeof value === "boolean" && type === "BOOLEAN";
}
