/**
 * Expressions as plain immutable trees. What users write (`col("x").gt(5)`) builds them, rules move and simplify them,
 * `expressionSql` spells them. `raw` is SQL of the user's own: rules do not look into it, and what the kernel's parser
 * sees in it only says where it may stand.
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
  /** What cannot be cast becomes null instead of an error. */
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
  /** What the kernel's parser finds in it; null: not asked. */
  readonly seen: RawSeen | null;
}

export interface RawSeen {
  /** The columns that it names, in lower case; null: it may mean all there are. */
  readonly columns: ReadonlySet<string> | null;
  /** For each window (`… OVER (…)`) the columns that it is partitioned by; what is computed for that is left out. */
  readonly windows: readonly (readonly string[])[];
  /** Functions of many rows that stand outside of windows: `sum`, `row_number`. */
  readonly aggregates: readonly string[];
  /** It makes several rows of one. */
  readonly unnests: boolean;
  /** It is one expression, with nothing before or after it. */
  readonly isOne: boolean;
}

/** Of many rows one value; only in the items of an aggregate, or with a window. */
export interface AggregateExpression {
  readonly kind: "aggregate";
  readonly name: AggregateName;
  /** Null: rows are counted, whatever they hold. */
  readonly input: Expression | null;
  /** Only rows for which this holds; null: all. */
  readonly where: Expression | null;
  /** Of a quantile, from 0 to 1. */
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

/** For each row a value of the rows around it: those of its partition, in an order, or a frame of them. */
export interface WindowExpression {
  readonly kind: "window";
  readonly of: AggregateExpression | WindowCall;
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly SortKey[];
  /** Null: SQL's own; in an order all rows up to this one and those beside it, without one all rows. */
  readonly frame: Frame | null;
}

/** What has a meaning in a window alone. */
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
 * From the row itself: so many rows, or so much of the key, before (negative) or after it; a unit where the key is a
 * time.
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

/** AND and OR are kept flat: a thousand conditions are one wide node, not a thousand deep. */
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

/** The conditions that must all hold. */
export function conjuncts(predicate: Expression): readonly Expression[] {
  return sameCall(predicate, "and");
}

export function conjunction(predicates: readonly Expression[]): Expression {
  const [only] = predicates;
  return predicates.length === 1 && only !== undefined ? only : callOf("and", predicates);
}
