export type { CallName } from "./calls.ts";
export { computesAll, isDeep, MAX_DEPTH } from "./depth.ts";
export {
  type AggregateExpression,
  type AggregateName,
  aggregateOf,
  type CallExpression,
  type ColumnExpression,
  call,
  callOf,
  cases,
  cast,
  column,
  conjunction,
  conjuncts,
  type Expression,
  type Frame,
  type FrameBound,
  type LiteralExpression,
  literal,
  type NamedExpression,
  type RawExpression,
  type RawSeen,
  raw,
  type SortKey,
  type WindowCall,
  type WindowCallName,
  type WindowExpression,
  windowCall,
  windowOf,
} from "./expression.ts";
export { checkLiteral, checkText, type Literal, literalSql } from "./literal.ts";
export { expressionSql, namedSql, orderSql } from "./render.ts";
export { checkTypeName } from "./type-name.ts";
export {
  aggregatesIn,
  children,
  columnsRead,
  expressionSize,
  hasRaw,
  isWindowed,
  mapChildren,
  namedColumns,
  partitionsIn,
  rawsIn,
  substitute,
} from "./walk.ts";
