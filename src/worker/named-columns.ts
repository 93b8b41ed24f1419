/** A step's SQL over the tables that a task has: lists of columns that could not be told before are put where their marks stand. */
import { type Connection, NO_COLUMN } from "../kernel/index.ts";
import { fillPlaceholders, type SqlStep, sideBySide } from "../protocol/index.ts";

/** `tables` are what the task has for the step's placeholders. */
export function withColumns(
  connection: Connection,
  step: SqlStep,
  tables: Iterable<readonly [string, string]>,
): string {
  const values = new Map(tables);
  const whole = (sql: string) => fillPlaceholders(sql, values);
  const columns = (table: string) =>
    connection
      .describe(`SELECT * FROM ${whole(table)}`)
      .fields.map(({ name }) => name)
      .filter((name) => name !== NO_COLUMN);
  for (const unnamed of step.unnamed ?? []) {
    const list = sideBySide(unnamed, columns(unnamed.left), columns(unnamed.right));
    values.set(unnamed.mark, list || `NULL AS ${NO_COLUMN}`);
  }
  return whole(step.sql);
}
