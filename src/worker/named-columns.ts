/** A step's SQL over the tables that a task has: lists of columns that could not be told before are put where their marks stand. */
import { type Connection, NO_COLUMN } from "../kernel/index.ts";
import { type SqlStep, sideBySide } from "../protocol/index.ts";

/** `over` puts the tables where they stand in a text. */
export function withColumns(connection: Connection, step: SqlStep, over: (sql: string) => string): string {
  const lists: { readonly mark: string; readonly list: string }[] = [];
  const whole = (sql: string) => lists.reduce((text, { mark, list }) => text.split(mark).join(list), over(sql));
  const columns = (table: string) =>
    connection
      .describe(`SELECT * FROM ${whole(table)}`)
      .fields.map(({ name }) => name)
      .filter((name) => name !== NO_COLUMN);
  for (const unnamed of step.unnamed ?? []) {
    const list = sideBySide(unnamed, columns(unnamed.left), columns(unnamed.right));
    lists.push({ mark: unnamed.mark, list: list || `NULL AS ${NO_COLUMN}` });
  }
  return whole(step.sql);
}
