/**
 * Completes a step's SQL with the tables that a task has: replaces the marks by the lists of columns that planning did
 * not know, and checks the types of keys that it did not know.
 */
import { quoteIdentifier } from "../arrow/index.ts";
import { RowShapeError } from "../errors/index.ts";
import { type Connection, NO_COLUMN } from "../kernel/index.ts";
import {
  checkFoundKeyTypes,
  fillPlaceholders,
  namesSideBySide,
  type SqlStep,
  sideBySide,
  type TypeOf,
  tablesIn,
} from "../protocol/index.ts";
import { checkNameUses } from "./name-uses.ts";

/** `tables` are the task's values for the step's placeholders. */
export function withColumns(
  connection: Connection,
  step: SqlStep,
  tables: Iterable<readonly [string, string]>,
): string {
  const values = new Map(tables);
  const whole = (sql: string) => fillPlaceholders(sql, values);
  /** Even now, only some columns of a table without rows may be known. */
  const isTold = (table: string) =>
    [...tablesIn(table)].every((each) => connection.all(`SELECT 1 AS one FROM ${whole(each)} LIMIT 1`).length > 0);
  const columns = (table: string) =>
    connection
      .describe(`SELECT * FROM ${whole(table)}`)
      .fields.map(({ name }) => name)
      .filter((name) => name !== NO_COLUMN);
  for (const unnamed of step.unnamed ?? []) {
    const [left, right] = [columns(unnamed.left), columns(unnamed.right)];
    const list = sideBySide(unnamed, left, right);
    if (unnamed.uses.length > 0 && (unnamed.isPlanned.left || isTold(unnamed.left))) {
      if (unnamed.isPlanned.right || isTold(unnamed.right))
        checkNameUses(unnamed.uses, namesSideBySide(unnamed, left, right));
      // Next to the left's columns, no right column differs only in case, whatever columns the right has.
      else checkNameUses(unnamed.uses, left, "some");
    }
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
  for (const tables of step.united ?? []) assertSameColumns(tables.filter(isTold).map(columns));
  return whole(step.sql);
}

function assertSameColumns([first = [], ...others]: readonly (readonly string[])[]): void {
  for (const names of others) {
    const missing = first.find((name) => !names.includes(name));
    const column = missing ?? names.find((name) => !first.includes(name));
    if (column === undefined) continue;
    const [having, lacking] = missing === undefined ? [names, first] : [first, names];
    throw new RowShapeError(
      `union: the columns differ: "${column}" is in rows of one dataset (${having.join(", ")}) and not in those of another (${lacking.join(", ")}). Use select, drop or rename to make them the same.`,
      column,
    );
  }
}

/** Types as the kernel has them inside the query, where nulls of no type are not integers. */
function typesIn(connection: Connection, table: string, names: readonly string[]): TypeOf {
  const types = names.map((name, i) => `typeof(t.${quoteIdentifier(name)}) AS t${i}`);
  const [found = {}] = connection.all(`SELECT ${types.join(", ")} FROM (SELECT 1) LEFT JOIN ${table} AS t ON false`);
  return (name) => String(found[`t${names.indexOf(name)}`]);
}
