/**
 * A query as its columns may leave a task. HUGEINT is what a sum of BIGINTs is inside the kernel: no file and no block
 * has it, so it leaves as BIGINT, or not at all. The one column of tables whose columns nobody knows stays behind,
 * beside others.
 */
import { quoteIdentifier } from "../arrow/index.ts";
import { type Connection, NO_COLUMN } from "../kernel/index.ts";

const HUGE = /\bU?HUGEINT\b/;

/** `hasColumns` is false where nobody knows a column of it. */
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
