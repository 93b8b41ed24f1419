export {
  type AnyExpr,
  type Between,
  type ColumnValue,
  type Operand,
  type RefsOf,
  toExpression,
  type Unnamed,
} from "./core.ts";
export type { DateUnit } from "./dates.ts";
export { AggregateExpr, coalesce, col, concat, count, Expr, greatest, least, lit, sql, when } from "./expr.ts";
