/**
 * A step's SQL over the tables that a task has: lists of columns that could not be told before are put where their marks stand,
 * and types of keys that were not known before are checked.
 */
import { type Connection, NO_COLUMN, quoteIdentifier } from "../kernel/index.ts";
import { checkFoundKeyTypes, fillPlaceholders, type SqlStep, sideBySide, type TypeOf } from "../protocol/index.ts";

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
  for (const { left, right, keys } of step.compared ?? []) {
    const types = (table: string, names: readonly string[]) => typesIn(connection, whole(table), names);
    checkFoundKeyTypes(
      keys,
      types(
        left,
        keys.map((pair) => pair.left),
      ),
      types(
        right,
        keys.map((pair) => pair.right),
      ),
    );
  }
  return whole(step.sql);
}

/** As the kernel has them inside the query: nulls of no type are no integers there. */
function typesIn(connection: Connection, table: string, names: readonly string[]): TypeOf {
  const types = names.map((name, i) => `typeof(t.${quoteIdentifier(name)}) AS t${i}`);
  const [found = {}] = connection.all(`SELECT ${types.join(", ")} FROM (SELECT 1) LEFT JOIN ${table} AS t ON false`);
  return (name) => String(found[`t${names.indexOf(name)}`]);
}
