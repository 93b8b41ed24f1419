/**
 * Partitions: the names of their folders, and cutting a table by them where the kernel does not do so itself, because
 * of the format or of a limit of rows in a file.
 */
import { join } from "node:path";
import { quoteIdentifier, quoteText } from "../../arrow/index.ts";
import { UnknownColumnError } from "../../errors/index.ts";
import type { Connection } from "../../kernel/index.ts";
import { nearest } from "../../units/index.ts";

interface Partition {
  /** `country=NL/year=2024` */
  readonly directory: string;
  /** Number of the file in its directory, from 0. */
  readonly piece: number;
  /** Its rows, without the columns that are in the directory's name. */
  readonly select: string;
}

/** The kernel and other engines write a null in a path like this. */
const NULL_VALUE = "__HIVE_DEFAULT_PARTITION__";

/**
 * The value as text. JavaScript's whole numbers are DOUBLEs here: the folder is named 2024, and not 2024.0. NaN and 0
 * have no sign.
 */
function folderText(key: string, isFloat: boolean): string {
  const text = `${key}::VARCHAR`;
  return isFloat ? `regexp_replace(regexp_replace(${text}, '\\.0$', ''), '^-(nan|0)$', '\\1')` : text;
}

/** The kinds of all columns, including those of the partitions. A name in another case is another column. */
function kindsOf(connection: Connection, select: string, columns: readonly string[]): ReadonlyMap<string, string> {
  const kinds = new Map(connection.describe(select).fields.map(({ name, type }) => [name, type.kind]));
  const available = [...kinds.keys()];
  const unknown = columns.find((name) => !kinds.has(name));
  if (unknown !== undefined) {
    throw new UnknownColumnError(unknown, available, "partitionBy", nearest(unknown, available));
  }
  return kinds;
}

/**
 * A query whose partition columns have the form in which the kernel can name folders by them. The columns themselves
 * are not written.
 */
export function withFolderNames(connection: Connection, select: string, columns: readonly string[]): string {
  if (columns.length === 0) return select;
  const kinds = kindsOf(connection, select, columns);
  const replaced = columns
    // The kernel would name folders by bytes as if they were valid text.
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
