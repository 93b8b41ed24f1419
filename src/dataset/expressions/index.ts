export type { AnyExpr, Between, ColumnValue, Operand, Unnamed } from "./core.ts";
export type { DateUnit } from "./dates.ts";
export {
  AggregateExpr,
  coalesce,
  col,
  concat,
  count,
  denseRank,
  Expr,
  greatest,
  least,
  lit,
  ntile,
  rank,
  rowNumber,
  sql,
  WindowFunction,
  when,
} from "./expr.ts";
export type { FrameUnit, WindowFrame } from "./frame.ts";
export type { OrderedOverOptions, OverOptions } from "./over.ts";
