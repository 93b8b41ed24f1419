export type { CallName } from "./calls.ts";
export {
  type AggregateExpression,
  type AggregateName,
  aggregateOf,
  type CallExpression,
  type ColumnExpression,
  call,
  cases,
  cast,
  column,
  conjunction,
  conjuncts,
  type Expression,
  type LiteralExpression,
  literal,
  type NamedExpression,
  raw,
} from "./expression.ts";
export { checkLiteral, type Literal, literalSql } from "./literal.ts";
export { quoteIdentifier, quoteText, quoteTextList } from "./quote.ts";
export { expressionSql, namedSql } from "./render.ts";
export { checkTypeName } from "./type-name.ts";
export {
  aggregatesIn,
  children,
  columnsRead,
  expressionSize,
  hasRaw,
  mapChildren,
  namedColumns,
  sameExpression,
  substitute,
} from "./walk.ts";
