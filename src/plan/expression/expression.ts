/**
 * Expressions as plain immutable trees. Users build them (`col("x").gt(5)`), rules move and simplify them, and
 * `expressionSql` writes them as SQL. `raw` is SQL of the user's own: rules do not change it, and the findings of the
 * kernel's parser only decide where it may stand.
 */
import type { CallName } from "./calls.ts";
import type { Literal } from "./literal.ts";

export interface ColumnExpression {
  readonly kind: "column";
  readonly name: string;
}

export interface LiteralExpression {
  readonly kind: "literal";
  readonly value: Literal;
}

export interface CallExpression {
  readonly kind: "call";
  readonly name: CallName;
  readonly args: readonly Expression[];
}

interface CastExpression {
  readonly kind: "cast";
  readonly input: Expression;
  readonly type: string;
  /** A value that cannot be cast becomes null instead of an error. */
  readonly lenient: boolean;
}

interface CaseExpression {
  readonly kind: "case";
  readonly branches: readonly { readonly when: Expression; readonly value: Expression }[];
  readonly otherwise: Expression;
}

export interface RawExpression {
  readonly kind: "raw";
  readonly sql: string;
  /** What the kernel's parser finds in it; null: the parser was not asked. */
  readonly seen: RawSeen | null;
}

export interface RawSeen {
  /** The columns that it names, in lower case; null: it may refer to all columns. */
  readonly columns: ReadonlySet<string> | null;
  /** For each window (`… OVER (…)`), the columns that it is partitioned by. Computed keys are left out. */
  readonly windows: readonly (readonly string[])[];
  /** Functions of many rows outside of windows: `sum`, `row_number`. */
  readonly aggregates: readonly string[];
  /** It makes several rows of one. */
  readonly unnests: boolean;
  /** It is a single expression, with nothing before or after it. */
  readonly isOne: boolean;
}

/** One value of many rows. Allowed in the items of an aggregate, or with a window. */
export interface AggregateExpression {
  readonly kind: "aggregate";
  readonly name: AggregateName;
  /** Null: rows are counted, whatever they contain. */
  readonly input: Expression | null;
  /** Only rows for which this is true; null: all rows. */
  readonly where: Expression | null;
  /** For a quantile, from 0 to 1. */
  readonly fraction: number | null;
}

export type AggregateName =
  | "count"
  | "sum"
  | "mean"
  | "min"
  | "max"
  | "std"
  | "var"
  | "first"
  | "list"
  | "countDistinct"
  | "quantile";

export interface SortKey {
  readonly expression: Expression;
  readonly descending: boolean;
  readonly nulls: "first" | "last";
}

/** For each row, a value of the rows around it: of its partition, up to it in an order, or of a frame. */
export interface WindowExpression {
  readonly kind: "window";
  readonly of: AggregateExpression | WindowCall;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly SortKey[];
  /** Null: SQL's default. With an order, all rows up to this one and those equal to it; without an order, all rows. */
  readonly frame: Frame | null;
}

/** A function that only has a meaning in a window. */
export interface WindowCall {
  readonly kind: "windowCall";
  readonly name: WindowCallName;
  readonly args: readonly Expression[];
}

export type WindowCallName = "rowNumber" | "rank" | "denseRank" | "ntile" | "lag" | "lead" | "last";

export interface Frame {
  readonly kind: "rows" | "range";
  readonly from: FrameBound;
  readonly to: FrameBound;
}

/**
 * Distance from the row: a number of rows, or a distance of the key; negative is before the row. The unit is set if the
 * key is a time.
 */
export type FrameBound = "unbounded" | { readonly offset: number; readonly unit: string | null };

export type Expression =
  | ColumnExpression
  | LiteralExpression
  | CallExpression
  | CastExpression
  | CaseExpression
  | RawExpression
  | AggregateExpression
  | WindowExpression;

export interface NamedExpression {
  readonly name: string;
  readonly expression: Expression;
}

export const column = (name: string): ColumnExpression => Object.freeze({ kind: "column", name });
export const literal = (value: Literal): LiteralExpression => Object.freeze({ kind: "literal", value });
export const raw = (sql: string): RawExpression => Object.freeze({ kind: "raw", sql, seen: null });
export const cast = (input: Expression, type: string, lenient = false): CastExpression =>
  Object.freeze({ kind: "cast", input, type, lenient });
export const cases = (branches: CaseExpression["branches"], otherwise: Expression): CaseExpression =>
  Object.freeze({ kind: "case", branches, otherwise });

export const aggregateOf = (
  name: AggregateName,
  input: Expression | null,
  {
    where = null,
    fraction = null,
  }: { readonly where?: Expression | null; readonly fraction?: number | null | undefined } = {},
): AggregateExpression => Object.freeze({ kind: "aggregate", name, input, where, fraction });

export const windowOf = (
  of: WindowExpression["of"],
  { partitionBy = [], orderBy = [], frame = null }: Partial<Omit<WindowExpression, "kind" | "of">> = {},
): WindowExpression => Object.freeze({ kind: "window", of, partitionBy, orderBy, frame });

export const windowCall = (name: WindowCallName, ...args: readonly Expression[]): WindowCall =>
  Object.freeze({ kind: "windowCall", name, args });

/** AND and OR are kept flat: a thousand conditions are one wide node instead of a thousand nested ones. */
export function call(name: CallName, ...args: readonly Expression[]): CallExpression {
  return callOf(name, args);
}

export function callOf(name: CallName, args: readonly Expression[]): CallExpression {
  const flat = name === "and" || name === "or" ? args.flatMap((arg) => sameCall(arg, name)) : args;
  return Object.freeze({ kind: "call", name, args: flat });
}

function sameCall(expression: Expression, name: CallName): readonly Expression[] {
  return expression.kind === "call" && expression.name === name ? expression.args : [expression];
}

/** The conditions that must all be true. */
export function conjuncts(predicate: Expression): readonly Expression[] {
  return sameCall(predicate, "and");
}

export function conjunction(predicates: readonly Expression[]): Expression {
  const [only] = predicates;
  return predicates.length === 1 && only !== undefined ? only : callOf("and", predicates);
}
