/** HUGEINT is what a sum of BIGINTs is inside the kernel: no file and no block has it, so it leaves as BIGINT, or not at all. */
import { type Connection, quoteIdentifier } from "../kernel/index.ts";

const HUGE = /\bU?HUGEINT\b/;

export function withoutHugeIntegers(connection: Connection, sql: string): string {
  const casts = connection.all(`DESCRIBE ${sql}`).flatMap((row) => {
    const type = String(row.column_type);
    if (!HUGE.test(type)) return [];
    const column = quoteIdentifier(String(row.column_name));
    return [`CAST(${column} AS ${type.replaceAll(new RegExp(HUGE, "g"), "BIGINT")}) AS ${column}`];
  });
  return casts.length === 0 ? sql : `SELECT * REPLACE (${casts.join(", ")}) FROM (${sql})`;
}
