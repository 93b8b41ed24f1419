/**
 * Row types: what a dataset's rows look like to the compiler, and how each operator changes it. Nothing here runs. An
 * unknown row type is a record of anything, so that `row.price * 2` compiles without a declared type.
 */
import type { AnyExpr, Between, ColumnValue, Expr, Unnamed } from "./expressions/index.ts";

// biome-ignore lint/suspicious/noExplicitAny: rows of unknown shape are meant to be used without casts.
export type AnyRow = Record<string, any>;

export type ColumnName<R> = keyof R & string;

/** The row type is unknown: any column may exist. */
export type IsOpen<R> = string extends keyof R ? true : false;

export type Flat<T> = { [K in keyof T]: T[K] };

/** An expression's value; the value of a column comes from the row type. */
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
/** The type between two values: a time between times, otherwise a number. */
export type Middle<V> = 0 extends 1 & V ? number : [NonNullable<V>] extends [Date] ? Date : number;

/** A column to select: a name, or an expression with one. */
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

/** The row type with null removed from these columns. */
export type WithoutNull<R, N extends string> =
  IsOpen<R> extends true
    ? R
    : Flat<
        { [K in keyof R as K extends N ? never : K]: R[K] } & {
          [K in keyof R as K extends N ? K : never]-?: Exclude<R[K], null | undefined>;
        }
      >;

/** The columns whose nulls a value can replace. */
export type FilledBy<R, V> = V extends string | number | bigint | boolean | Date
  ? { [K in keyof R]: NonNullable<R[K]> extends Widened<V> ? K : never }[keyof R] & string
  : keyof V & string;
type Widened<V> = V extends number | bigint
  ? number | bigint
  : V extends string
    ? string
    : V extends boolean
      ? boolean
      : V;

export type Condition<R> = AnyExpr<ColumnName<R>>;

/**
 * A column of numbers, with the members that typed arrays and arrays share: a column without nulls is a typed array,
 * one with nulls an array. To compute values of another type, make an array of it: `Array.from(column, fn)`.
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

/** A column of numbers may be a typed array. All others are plain arrays, which can be mapped to anything. */
type BatchColumnOf<V> = unknown extends V
  ? BatchColumn<V>
  : [NonNullable<V>] extends [number | bigint]
    ? BatchColumn<V>
    : V[];

export type ColumnsBatch<R> = IsOpen<R> extends true ? AnyRow : { [K in keyof R]: BatchColumnOf<R[K]> };

export type AnyColumns = Readonly<Record<string, ArrayLike<unknown>>>;

/** The rows that a batch of columns contains. */
export type RowOfColumns<C> = Flat<{ -readonly [K in keyof C]: C[K] extends ArrayLike<infer V> ? V : unknown }>;

/** The rows that a group function returns: those of columns, or one row if not all of its values are arrays. */
export type RowOfGroup<C> = AreColumns<C> extends true ? RowOfColumns<C> : Flat<C>;
type AreColumns<C> = {
  [K in keyof C]: C[K] extends string ? false : C[K] extends ArrayLike<unknown> ? true : false;
}[keyof C] extends true
  ? true
  : false;

/** What a batch function may return: one batch, now or later, or several. */
export type BatchResult<B> = B | Promise<B> | Iterable<B> | AsyncIterable<B>;
