/** Refuses expressions that look at other rows where only one row is available, and raw SQL that is no single value. */
import { OptionError } from "../errors/index.ts";
import {
  type AggregateExpression,
  aggregatesIn,
  children,
  type Expression,
  expressionSql,
  isWindowed,
  type RawExpression,
  rawsIn,
} from "./expression/index.ts";

/** Accepts a value of one row. */
export function checkRowByRow(expression: Expression, operator: string): void {
  const [found] = aggregatesIn(expression);
  if (found !== undefined) throw misplaced(found, operator);
  checkNoWindow(expression, operator);
  for (const each of rawsIn(expression)) {
    checkRaw(each, operator);
    checkNoAggregate(each, operator);
  }
}

/**
 * Accepts a value of a group, or of one row and the windows around it: what may stand outside of aggregates in such a
 * place.
 */
export function checkGroupWise(expression: Expression, operator: string): void {
  checkNoWindow(expression, operator);
  for (const each of rawsIn(expression)) checkRaw(each, operator);
}

export function checkRaw({ sql, seen }: RawExpression, operator: string): void {
  if (seen?.isOne === false) {
    throw new OptionError(`${operator}: ${quoted(sql)} is more than one expression. Give each its own sql(…).`);
  }
  if (seen?.unnests === true) {
    throw new OptionError(
      `${operator}: ${quoted(sql)} makes several rows of one row. Put the list into a column, and use explode.`,
    );
  }
}

export function checkNoAggregate({ sql, seen }: RawExpression, operator: string): void {
  const [name] = seen?.aggregates ?? [];
  if (name === undefined) return;
  throw new OptionError(
    `${operator}: ${quoted(sql)} has ${name}(…), which needs many rows, but ${operator} looks at one row at a time. ${remedy(`${name}(…) OVER (…)`)}`,
  );
}

function checkNoWindow(expression: Expression, operator: string): void {
  const found = windowIn(expression);
  if (found === null) return;
  throw new OptionError(
    `${operator}: ${shown(found)} looks at other rows. Put it into a column first, withColumn("name", …), and use col("name").`,
  );
}

export function misplaced(found: AggregateExpression, operator: string): OptionError {
  const text = expressionSql(found);
  return new OptionError(
    `${operator}: ${text} needs many rows, but ${operator} looks at one row at a time. ${remedy(".over({ … })")}`,
  );
}

function remedy(over: string): string {
  return `For a value beside each row, give its rows: ${over}. Or compute it first, with groupBy(…).agg({ … }) or await ds.agg({ … }), and use its result.`;
}

function windowIn(expression: Expression): Expression | null {
  if (!isWindowed(expression)) return null;
  if (expression.kind === "window" || expression.kind === "raw") return expression;
  return (
    children(expression)
      .map(windowIn)
      .find((found) => found !== null) ?? null
  );
}

const shown = (expression: Expression) =>
  expression.kind === "raw" ? quoted(expression.sql) : expressionSql(expression);
const quoted = (sql: string) => `sql(${JSON.stringify(sql)})`;
