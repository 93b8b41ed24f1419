/** Which rows the windows of a node look at together, and whether the order of the rows that come matters to them. */
import {
  children,
  type Expression,
  expressionSql,
  hasRaw,
  type NamedExpression,
  partitionsIn,
} from "./expression/index.ts";
import type { WindowNode } from "./nodes/window.ts";

/** What all its windows are partitioned by: rows that differ in it have nothing to do with each other. */
export function commonPartition({ items }: Pick<WindowNode, "items">): readonly Expression[] {
  const [first = [], ...others] = items.flatMap(({ expression }) => partitionsIn(expression));
  const texts = others.map((keys) => new Set(keys.map((key) => expressionSql(key))));
  return first.filter((key) => texts.every((keys) => keys.has(expressionSql(key))));
}

/** Raw SQL may number rows as they come, and a list without an order of its own has them in theirs. */
export function seesRowOrder({ items }: Pick<WindowNode, "items">): boolean {
  return items.some(({ expression }: NamedExpression) => hasRaw(expression) || listsRows(expression));
}

function listsRows(expression: Expression): boolean {
  if (expression.kind === "window") return expression.of.name === "list" && expression.orderBy.length === 0;
  return children(expression).some(listsRows);
}
