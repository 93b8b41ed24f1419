/**
 * Row types: what a dataset's rows look like to the compiler, and how each operator changes it. Nothing here runs. A row
 * type that is not known is a record of anything, so that `row.price * 2` compiles without one.
 */
import type { AnyExpr, Between, ColumnValue, Expr, Unnamed } from "./expressions/index.ts";

// biome-ignore lint/suspicious/noExplicitAny: rows of unknown shape are meant to be used without casts.
export type AnyRow = Record<string, any>;

export type ColumnName<R> = keyof R & string;

/** The row type is not known: any column may exist. */
export type IsOpen<R> = string extends keyof R ? true : false;

export type Flat<T> = { [K in keyof T]: T[K] };

/** An expression's value, where a column's is known from the row. */
export type ValueIn<R, E> = E extends Expr<infer T, string, string | Unnamed> ? Resolved<R, T> : never;
type Resolved<R, T> =
  T extends ColumnValue<infer N>
    ? N extends keyof R
      ? R[N]
      : unknown
    : T extends ColumnValue<infer N>[]
      ? (N extends keyof R ? R[N] : unknown)[]
      : T extends Between<infer V>
        ? Middle<Resolved<R, V>>
        : T;
/** What lies between values: of times a time, of all else a number. */
export type Middle<V> = 0 extends 1 & V ? number : [NonNullable<V>] extends [Date] ? Date : number;

/** A column to select: by name, or an expression that has one. */
export type SelectItem<R> = ColumnName<R> | Expr<unknown, ColumnName<R>, string>;

type ItemName<I> = I extends string
  ? I
  : I extends Expr<unknown, string, infer N>
    ? N extends string
      ? N
      : never
    : never;
export type ItemValue<R, I> = I extends string ? (I extends keyof R ? R[I] : never) : ValueIn<R, I>;
export type Selected<R, Items extends readonly unknown[]> = Flat<{
  [I in Items[number] as ItemName<I>]: ItemValue<R, I>;
}>;

export type WithColumn<R, N extends string, E> =
  IsOpen<R> extends true ? R : Flat<Omit<R, N> & { [K in N]: ValueIn<R, E> }>;

export type Dropped<R, N extends string> = IsOpen<R> extends true ? R : Flat<Omit<R, N>>;

export type Renamed<R, M> =
  IsOpen<R> extends true
    ? R
    : Flat<{ [K in keyof R as K extends keyof M ? (M[K] extends string ? M[K] : K) : K]: R[K] }>;

export type Exploded<R, N extends string> =
  IsOpen<R> extends true
    ? R
    : Flat<{ [K in keyof R]: K extends N ? (R[K] extends readonly (infer V)[] ? V : unknown) : R[K] }>;

export type Condition<R> = AnyExpr<ColumnName<R>>;

/**
 * A column of a batch, with what typed arrays and arrays have in common: numbers without nulls come as the former, all
 * else as the latter. For values of another type make an array of it: `Array.from(column, fn)`.
 */
export interface BatchColumn<out T> extends Iterable<T> {
  readonly length: number;
  readonly [index: number]: T;
  at(index: number): T | undefined;
  map(fn: (value: T, index: number) => T): BatchColumn<T>;
  filter(fn: (value: T, index: number) => boolean): BatchColumn<T>;
  slice(start?: number, end?: number): BatchColumn<T>;
  reduce<A>(fn: (sum: A, value: T, index: number) => A, initial: A): A;
  forEach(fn: (value: T, index: number) => void): void;
  some(fn: (value: T, index: number) => boolean): boolean;
  every(fn: (value: T, index: number) => boolean): boolean;
  join(separator?: string): string;
}

export type ColumnsBatch<R> = IsOpen<R> extends true ? AnyRow : { [K in keyof R]: BatchColumn<R[K]> };

export type AnyColumns = Readonly<Record<string, ArrayLike<unknown>>>;

/** The rows that a batch of columns stands for. */
export type RowOfColumns<C> = Flat<{ -readonly [K in keyof C]: C[K] extends ArrayLike<infer V> ? V : unknown }>;

/** What a batch function may give: one batch, now or later, or several. */
export type BatchResult<B> = B | Promise<B> | Iterable<B> | AsyncIterable<B>;
