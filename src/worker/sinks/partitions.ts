/**
 * Partitions: what their folders are called, and a table cut by them where the kernel does not do it itself, because of
 * the format or because a file may only have so many rows.
 */
import { join } from "node:path";
import { quoteIdentifier, quoteText } from "../../arrow/index.ts";
import { UnknownColumnError } from "../../errors/index.ts";
import type { Connection } from "../../kernel/index.ts";
import { nearest } from "../../units/index.ts";

interface Partition {
  /** `country=NL/year=2024` */
  readonly directory: string;
  /** Counts the files of one directory, from 0. */
  readonly piece: number;
  /** Its rows, without the columns that the directory tells. */
  readonly select: string;
}

/** As the kernel and everyone else spell a null in a path. */
const NULL_VALUE = "__HIVE_DEFAULT_PARTITION__";

/**
 * The value as text. JavaScript's whole numbers are DOUBLEs here: 2024 is called that, and not 2024.0; NaN has no sign,
 * nor has 0.
 */
function folderText(key: string, isFloat: boolean): string {
  const text = `${key}::VARCHAR`;
  return isFloat ? `regexp_replace(regexp_replace(${text}, '\\.0$', ''), '^-(nan|0)$', '\\1')` : text;
}

/** The kinds of all columns, those that the rows go by among them: names in another case are others. */
function kindsOf(connection: Connection, select: string, columns: readonly string[]): ReadonlyMap<string, string> {
  const kinds = new Map(connection.describe(select).fields.map(({ name, type }) => [name, type.kind]));
  const available = [...kinds.keys()];
  const unknown = columns.find((name) => !kinds.has(name));
  if (unknown !== undefined) {
    throw new UnknownColumnError(unknown, available, "partitionBy", nearest(unknown, available));
  }
  return kinds;
}

/** A query whose partition columns the kernel can name folders after: the columns themselves are not written. */
export function withFolderNames(connection: Connection, select: string, columns: readonly string[]): string {
  if (columns.length === 0) return select;
  const kinds = kindsOf(connection, select, columns);
  const replaced = columns
    // The kernel takes bytes for text, which they need not be.
    .filter((name) => kinds.get(name) === "float" || kinds.get(name) === "binary")
    .map((name) => `${folderText(quoteIdentifier(name), kinds.get(name) === "float")} AS ${quoteIdentifier(name)}`);
  return replaced.length === 0 ? select : `SELECT * REPLACE (${replaced.join(", ")}) FROM (${select})`;
}

export function partitionsOf(
  connection: Connection,
  table: string,
  columns: readonly string[],
  maxRows: number | null,
): Partition[] {
  const keys = columns.map(quoteIdentifier);
  const kinds = kindsOf(connection, `FROM ${table}`, columns);
  const texts = keys.map((key, i) => folderText(key, kinds.get(columns[i] ?? "") === "float"));
  const named = texts.map((text, i) => `${text} AS p${i}`);
  const found = connection.all(`SELECT ${named.join(", ")}, count(*) AS n FROM ${table} GROUP BY ALL ORDER BY ALL`);
  return found.flatMap((row) => {
    const values = keys.map((_, i) => {
      const value = row[`p${i}`];
      return value === null || value === undefined ? null : String(value);
    });
    const where = values.map((value, i) =>
      value === null ? `${keys[i]} IS NULL` : `${texts[i]} = ${quoteText(value)}`,
    );
    const directories = values.map(
      (value, i) =>
        `${encodeURIComponent(columns[i] ?? "")}=${value === null ? NULL_VALUE : encodeURIComponent(value)}`,
    );
    const directory = join(...directories);
    const select = `SELECT * EXCLUDE (${keys.join(", ")}) FROM ${table} WHERE ${where.join(" AND ")}`;
    const rows = Number(row.n);
    if (maxRows === null || rows <= maxRows) return [{ directory, piece: 0, select }];
    return Array.from({ length: Math.ceil(rows / maxRows) }, (_, piece) => ({
      directory,
      piece,
      select: `${select} LIMIT ${maxRows} OFFSET ${piece * maxRows}`,
    }));
  });
}
