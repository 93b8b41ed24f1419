/** A table cut by the values of some columns, for formats whose partitions the kernel does not write itself. */
import { join } from "node:path";
import { type Connection, quoteIdentifier, quoteLiteral } from "../../kernel/index.ts";

export interface Partition {
  /** `country=NL/year=2024` */
  readonly directory: string;
  /** Its rows, without the columns that the directory tells. */
  readonly select: string;
}

/** As the kernel and everyone else spell a null in a path. */
const NULL_VALUE = "__HIVE_DEFAULT_PARTITION__";

export function partitionsOf(connection: Connection, table: string, columns: readonly string[]): Partition[] {
  const keys = columns.map(quoteIdentifier);
  const texts = keys.map((key, i) => `${key}::VARCHAR AS p${i}`);
  const found = connection.all(`SELECT DISTINCT ${texts.join(", ")} FROM ${table} ORDER BY ALL`);
  return found.map((row) => {
    const values = keys.map((_, i) => {
      const value = row[`p${i}`];
      return value === null || value === undefined ? null : String(value);
    });
    const where = values.map((value, i) =>
      value === null ? `${keys[i]} IS NULL` : `${keys[i]}::VARCHAR = ${quoteLiteral(value)}`,
    );
    const directories = values.map(
      (value, i) =>
        `${encodeURIComponent(columns[i] ?? "")}=${value === null ? NULL_VALUE : encodeURIComponent(value)}`,
    );
    return {
      directory: join(...directories),
      select: `SELECT * EXCLUDE (${keys.join(", ")}) FROM ${table} WHERE ${where.join(" AND ")}`,
    };
  });
}
