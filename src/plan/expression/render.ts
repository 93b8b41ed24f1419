/** An expression as SQL text. */
import { quoteIdentifier } from "../../arrow/index.ts";
import { calls, comparisons } from "./calls.ts";
import type {
  AggregateExpression,
  AggregateName,
  Expression,
  Frame,
  FrameBound,
  SortKey,
  WindowCall,
  WindowCallName,
  WindowExpression,
} from "./expression.ts";
import { literalSql } from "./literal.ts";

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
    case "window":
      return windowSql(expression);
    case "raw":
      // The line break ends a comment at the end of the user's text, which would swallow the bracket.
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

const CALLS: Readonly<Record<WindowCallName, string>> = {
  rowNumber: "row_number",
  rank: "rank",
  denseRank: "dense_rank",
  ntile: "ntile",
  lag: "lag",
  lead: "lead",
  last: "last_value",
};

const WHOLE: Frame = { kind: "rows", from: "unbounded", to: "unbounded" };

function windowSql({ of, partitionBy, orderBy, frame }: WindowExpression): string {
  const partition = partitionBy.map((each) => expressionSql(each)).join(", ");
  const parts = [
    partitionBy.length === 0 ? "" : `PARTITION BY ${partition}`,
    orderBy.length === 0 ? "" : `ORDER BY ${orderBy.map(orderSql).join(", ")}`,
    frameSql(frame ?? (goesToEnds(of) ? WHOLE : null)),
  ];
  return `${of.kind === "aggregate" ? aggregateSql(of) : callSql(of)} OVER (${parts.filter((part) => part !== "").join(" ")})`;
}

/**
 * SQL's default frame would end at this row, so the last value would always be this row's own. Without a frame all rows
 * are meant. `first` gives the same either way.
 */
function goesToEnds(of: WindowExpression["of"]): boolean {
  return of.name === "last" || of.name === "first";
}

export function orderSql({ expression, descending, nulls }: SortKey): string {
  return `${expressionSql(expression)} ${descending ? "DESC" : "ASC"} NULLS ${nulls.toUpperCase()}`;
}

function callSql({ name, args }: WindowCall): string {
  const [value, offset, otherwise] = args.map((each) => expressionSql(each));
  if (otherwise === undefined) return `${CALLS[name]}(${args.map((each) => expressionSql(each)).join(", ")})`;
  // The kernel casts the value for missing rows to the type of the others, which would round it. The CASE gives both
  // the type that holds both.
  return `${CALLS[name]}(CASE WHEN FALSE THEN ${otherwise} ELSE ${value} END, ${offset}, ${otherwise})`;
}

function frameSql(frame: Frame | null): string {
  if (frame === null) return "";
  return `${frame.kind.toUpperCase()} BETWEEN ${boundSql(frame.from, "PRECEDING")} AND ${boundSql(frame.to, "FOLLOWING")}`;
}

function boundSql(bound: FrameBound, end: "PRECEDING" | "FOLLOWING"): string {
  if (bound === "unbounded") return `UNBOUNDED ${end}`;
  const { offset, unit } = bound;
  if (offset === 0) return "CURRENT ROW";
  const amount = literalSql(Math.abs(offset));
  return `${unit === null ? amount : `INTERVAL (${amount}) ${unit}`} ${offset < 0 ? "PRECEDING" : "FOLLOWING"}`;
}

export function namedSql(name: string, expression: Expression): string {
  if (expression.kind === "column" && expression.name === name) return quoteIdentifier(name);
  return `${expressionSql(expression)} AS ${quoteIdentifier(name)}`;
}
