/** Row types of operators that look at many rows: groups, joins, rows side by side. Nothing here runs. */
import type { AnyExpr } from "./expressions/index.ts";
import type { AnyRow, ColumnName, Flat, IsOpen, ValueIn } from "./row-types.ts";

/** Aggregates by name. They may also refer to the keys. */
export type AggregateItems<R, Keys> = Readonly<Record<string, AnyExpr<ColumnName<R> | ColumnName<Keys>>>>;

/** A row for each group: its keys, then its aggregates. */
export type Aggregated<R, Keys, Items> = Flat<Keys & { -readonly [K in keyof Items]: ValueIn<R & Keys, Items[K]> }>;

/** A row of a group. The keys are columns of it, including computed ones. */
export type GroupRow<R extends AnyRow, Keys> = IsOpen<R> extends true ? R : Flat<Omit<R, keyof Keys> & Keys>;

type Names<R> = ColumnName<R> | readonly ColumnName<R>[];

type Either<L, R> = ColumnName<L> & ColumnName<R>;
interface Suffix {
  /** Appended to the name of a right column that the left dataset has, too. Default "_right". */
  readonly suffix?: string;
}
interface How extends Suffix {
  /** Default "inner". */
  readonly how?: "inner" | "left" | "right" | "full" | "semi" | "anti";
}

export type JoinOptions<L, R> =
  /** Columns that both datasets have. */
  | (How & {
      readonly on: Either<L, R> | readonly Either<L, R>[];
      readonly leftOn?: never;
      readonly rightOn?: never;
    })
  | (How & { readonly leftOn: Names<L>; readonly rightOn: Names<R>; readonly on?: never })
  /** Every row with every row. */
  | (Suffix & { readonly how: "cross"; readonly on?: never; readonly leftOn?: never; readonly rightOn?: never });

type AsList<T> = T extends readonly unknown[] ? T : readonly [T];
type LeftKeys<O> = AsList<O extends { readonly on: infer K } ? K : O extends { readonly leftOn: infer K } ? K : []>;
type RightKeys<O> = AsList<O extends { readonly on: infer K } ? K : O extends { readonly rightOn: infer K } ? K : []>;
/** The right key that is compared with a left one. */
type Partner<LeftOn, RightOn, K> = LeftOn extends readonly [infer A, ...infer As]
  ? RightOn extends readonly [infer B, ...infer Bs]
    ? K extends A
      ? B
      : Partner<As, Bs, K>
    : never
  : RightOn extends readonly (infer B)[]
    ? B
    : never;

type HowOf<O> = O extends { readonly how: infer H } ? H : "inner";
type SuffixOf<O> = O extends { readonly suffix: infer S extends string } ? S : "_right";

/** The right columns without the keys, renamed where the left dataset has the same name. */
type Rest<L, R, Keys, S extends string> = {
  [K in keyof R as K extends Keys ? never : K extends keyof L ? `${K & string}${S}` : K]: R[K];
};
type OrNull<T> = { [K in keyof T]: T[K] | null };
/** The left columns, if a row may come from the right dataset alone: its keys are then those of the right one. */
type LeftOrRight<L, R, O> = {
  [K in keyof L]: K extends LeftKeys<O>[number]
    ? L[K] | R[Partner<LeftKeys<O>, RightKeys<O>, K> & keyof R]
    : L[K] | null;
};

type Paired<L, R, O, H> = H extends "right"
  ? LeftOrRight<L, R, O> & Rest<L, R, RightKeys<O>[number], SuffixOf<O>>
  : H extends "full"
    ? LeftOrRight<L, R, O> & OrNull<Rest<L, R, RightKeys<O>[number], SuffixOf<O>>>
    : L &
        (H extends "left"
          ? OrNull<Rest<L, R, RightKeys<O>[number], SuffixOf<O>>>
          : Rest<L, R, RightKeys<O>[number], SuffixOf<O>>);

export type Joined<L extends AnyRow, R extends AnyRow, O> =
  HowOf<O> extends "semi" | "anti" ? L : true extends IsOpen<L> | IsOpen<R> ? AnyRow : Flat<Paired<L, R, O, HowOf<O>>>;

export interface ZipOptions extends Suffix {}

export type Zipped<L extends AnyRow, R extends AnyRow, O> = true extends IsOpen<L> | IsOpen<R>
  ? AnyRow
  : Flat<L & Rest<L, R, never, SuffixOf<O>>>;
