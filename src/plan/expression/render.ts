/** An expression as SQL text. */
import { calls, comparisons } from "./calls.ts";
import type { AggregateExpression, AggregateName, Expression } from "./expression.ts";
import { literalSql } from "./literal.ts";
import { quoteIdentifier } from "./quote.ts";

export function expressionSql(expression: Expression, compared = false): string {
  switch (expression.kind) {
    case "column":
      return quoteIdentifier(expression.name);
    case "literal":
      return literalSql(expression.value, compared);
    case "call": {
      const besideComparison = comparisons.has(expression.name);
      const args = expression.args.map((arg) => expressionSql(arg, besideComparison));
      return calls[expression.name](args);
    }
    case "cast": {
      const keyword = expression.lenient ? "TRY_CAST" : "CAST";
      return `${keyword}(${expressionSql(expression.input)} AS ${expression.type})`;
    }
    case "case": {
      const branches = expression.branches.map(
        ({ when, value }) => `WHEN ${expressionSql(when)} THEN ${expressionSql(value)}`,
      );
      return `(CASE ${branches.join(" ")} ELSE ${expressionSql(expression.otherwise)} END)`;
    }
    case "aggregate":
      return aggregateSql(expression);
    case "raw":
      // A comment at the end of the user's text must not swallow the bracket.
      return expression.sql.includes("--") ? `(${expression.sql}\n)` : `(${expression.sql})`;
  }
}

const AGGREGATES: Readonly<Record<AggregateName, string>> = {
  count: "count",
  sum: "sum",
  mean: "avg",
  min: "min",
  max: "max",
  std: "stddev_samp",
  var: "var_samp",
  first: "first",
  list: "list",
  countDistinct: "count",
  quantile: "quantile_cont",
};

function aggregateSql({ name, input, where, fraction }: AggregateExpression): string {
  const argument = input === null ? "*" : expressionSql(input);
  const args = fraction === null ? argument : `${argument}, ${literalSql(fraction)}`;
  const filter = where === null ? "" : ` FILTER (WHERE ${expressionSql(where)})`;
  return `${AGGREGATES[name]}(${name === "countDistinct" ? "DISTINCT " : ""}${args})${filter}`;
}

export function namedSql(name: string, expression: Expression): string {
  if (expression.kind === "column" && expression.name === name) return quoteIdentifier(name);
  return `${expressionSql(expression)} AS ${quoteIdentifier(name)}`;
}
