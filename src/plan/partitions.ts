/** Which rows the windows of a node look at together, and whether they depend on the order of the input rows. */
import {
  children,
  type Expression,
  expressionSql,
  hasRaw,
  type NamedExpression,
  partitionsIn,
} from "./expression/index.ts";
import type { WindowNode } from "./nodes/window.ts";

/** What all of its windows are partitioned by. Rows with different values there do not affect each other. */
export function commonPartition({ items }: Pick<WindowNode, "items">): readonly Expression[] {
  const [first = [], ...others] = items.flatMap(({ expression }) => partitionsIn(expression));
  const texts = others.map((keys) => new Set(keys.map((key) => expressionSql(key))));
  return first.filter((key) => texts.every((keys) => keys.has(expressionSql(key))));
}

/** Raw SQL may number rows in the order of input. A list without an order of its own has the order of input, too. */
export function seesRowOrder({ items }: Pick<WindowNode, "items">): boolean {
  return items.some(({ expression }: NamedExpression) => hasRaw(expression) || listsRows(expression));
}

function listsRows(expression: Expression): boolean {
  if (expression.kind === "window") return expression.of.name === "list" && expression.orderBy.length === 0;
  return children(expression).some(listsRows);
}
