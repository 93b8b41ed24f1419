/**
 * A query in the form in which its columns may leave a task. HUGEINT is the kernel's type for a sum of BIGINTs. Files
 * and blocks do not have it, so the column leaves as BIGINT, or the task fails. The placeholder column of tables with
 * unknown columns is left out next to other columns.
 */
import { quoteIdentifier } from "../arrow/index.ts";
import { type Connection, NO_COLUMN } from "../kernel/index.ts";

const HUGE = /\bU?HUGEINT\b/;

/** `hasColumns` is false if all of its columns are unknown. */
export function outgoing(connection: Connection, sql: string): { readonly sql: string; readonly hasColumns: boolean } {
  const columns = connection.all(`DESCRIBE ${sql}`);
  const casts = columns.flatMap((row) => {
    const type = String(row.column_type);
    if (!HUGE.test(type)) return [];
    const column = quoteIdentifier(String(row.column_name));
    return [`CAST(${column} AS ${type.replaceAll(new RegExp(HUGE, "g"), "BIGINT")}) AS ${column}`];
  });
  const hasColumns = columns.some((row) => row.column_name !== NO_COLUMN);
  const isBesideOthers = columns.length > 1 && columns.some((row) => row.column_name === NO_COLUMN);
  if (casts.length === 0 && !isBesideOthers) return { sql, hasColumns };
  const exclude = isBesideOthers ? ` EXCLUDE (${quoteIdentifier(NO_COLUMN)})` : "";
  const replace = casts.length === 0 ? "" : ` REPLACE (${casts.join(", ")})`;
  return { sql: `SELECT *${exclude}${replace} FROM (${sql})`, hasColumns };
}
