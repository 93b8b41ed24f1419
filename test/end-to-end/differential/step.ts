/**
 * What a random chain is made of: a step is an operator, the SQL that asks the same, and what is known of the rows
 * after it. Choices come from a stream of random numbers, so that a chain can be told again and made smaller.
 */
import type { Dataset } from "spillway";
import type { ValueOptions } from "../../../src/arrow/index.ts";

// biome-ignore lint/suspicious/noExplicitAny: the columns change from operator to operator
export type Any = any;

/**
 * What a column can be used for. "odd" are numbers that nothing is computed with: beyond the finite ones, or beyond
 * what sums can hold; "clock" is a time of day, "span" an interval. Of "approximate" numbers the last digits depend on
 * the order of the rows, a "bag" is a list whose items are in no order: these two are only carried along. "wide" are
 * texts of which a list fills a small store.
 */
export type Kind =
  | "number"
  | "odd"
  | "text"
  | "wide"
  | "boolean"
  | "day"
  | "time"
  | "clock"
  | "span"
  | "blob"
  | "list"
  | "struct"
  | "approximate"
  | "bag";
export type Columns = ReadonlyMap<string, Kind>;

/**
 * What is sure about the order of the rows: where each one stands ("total"), the order of these columns alone, or
 * nothing. Only with a total order do limit, offset and zip ask for something that has one answer.
 */
export type Order = "total" | readonly string[];
export const NO_ORDER: Order = [];

export interface Shape {
  readonly columns: Columns;
  readonly order: Order;
  /**
   * False after a function: before it runs its columns are not known, and equal names of two datasets cannot be told
   * apart.
   */
  readonly known: boolean;
}

export interface Step extends Shape {
  readonly name: string;
  /** `other` is the second dataset of the same session. */
  apply(ds: Dataset<Any>, other: Dataset<Any>): Dataset<Any>;
  /** Over the names of the tables that hold the rows before the step and those of the other dataset. */
  sql(input: string, other: string): string;
}

/** Null where the operator has nothing to work on in such rows. Functions are handed values as `values` says. */
export type Maker = (
  shape: Shape,
  choice: Choice,
  other: Shape,
  values: ValueOptions,
  declared: Declared,
) => Step | null;

/**
 * The option that gives these columns their types again where a function makes them anew. Exact values do not tell
 * their types: days are bigints, decimals are texts. Nothing where values are not exact.
 */
export type Declared = (names: readonly string[]) => { readonly schema?: Readonly<Record<string, string>> };

export class Choice {
  #at = 0;
  constructor(private readonly numbers: readonly number[]) {}
  below(n: number): number {
    return (this.numbers[this.#at++ % this.numbers.length] ?? 0) % n;
  }
  chance(oneIn: number): boolean {
    return this.below(oneIn) === oneIn - 1;
  }
  of<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error("nothing to choose from");
    return item;
  }
  /** One to `most` different ones. */
  some<T>(items: readonly T[], most: number): T[] {
    const left = [...items];
    const wanted = Math.min(items.length, 1 + this.below(most));
    return Array.from({ length: wanted }, () => left.splice(this.below(left.length), 1)).flat();
  }
}

export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
export const quotedList = (names: readonly string[]) => names.map(quoted).join(", ");

export function named(columns: Columns, ...kinds: readonly Kind[]): string[] {
  return [...columns].filter(([, kind]) => kinds.includes(kind)).map(([name]) => name);
}

/** SQL takes names for one that differ only in case. */
export function isTaken(columns: Iterable<string>, name: string): boolean {
  return [...columns].some((other) => other.toLowerCase() === name.toLowerCase());
}

/** Columns by which rows can be told apart, whatever computed them. */
export function keysIn(columns: Columns): string[] {
  return [...columns].filter(([, kind]) => kind !== "approximate" && kind !== "bag").map(([name]) => name);
}

/** The order where a column is gone, or is another one. */
export function without(order: Order, name: string): Order {
  return order === "total" ? order : order.filter((each) => each !== name);
}
