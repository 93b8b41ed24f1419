/** Operators that look at many rows at once and return a dataset: groups, order, joins, partitions. */

import { OptionError } from "../errors/index.ts";
import {
  call,
  column,
  distinct,
  type Expression,
  filter,
  join,
  limit,
  literal,
  type Plan,
  type RepartitionNode,
  repartition,
  type SortKey,
  shuffle,
  sort,
  windowCall,
  windowOf,
  zip,
} from "../plan/index.ts";
import { parseSize } from "../units/index.ts";
import type { Derived, DerivedKind } from "./core.ts";
import type { Dataset } from "./dataset.ts";
import { Expr } from "./expressions/index.ts";
import { GroupedDataset } from "./grouped.ts";
import { namedItems } from "./items.ts";
import { joinKeys } from "./join-options.ts";
import { checkKeys, describe, positiveInteger, seedOf, text, textList, wholeNumber } from "./options.ts";
import { orderKeys, type SortOptions } from "./order-options.ts";
import type { Joined, JoinOptions, ZipOptions, Zipped } from "./relational-types.ts";
import { RowMethods } from "./row-methods.ts";
import type { AnyRow, ColumnName, Condition, Selected, SelectItem } from "./row-types.ts";

export interface TopOptions<By, P> extends SortOptions {
  /** What the rows are ordered by: a column, an expression, or several. */
  readonly by: By | readonly By[];
  /** The number of rows is per combination of these values. Default: over all rows. */
  readonly partitionBy?: P | readonly P[];
}

export type RepartitionOptions<Name extends string = string> =
  /** This many rows in each partition; the last one may have fewer. */
  | { readonly targetRows: number }
  /** About this many bytes in each partition: 64e6, "64 MiB". */
  | { readonly targetBytes: number | string }
  /** Rows with equal keys are in one partition; `count` partitions, or as many as seem useful. */
  | { readonly keys: Name | readonly Name[]; readonly count?: number };

type SortBy<R> = ColumnName<R> | Condition<R>;

export abstract class RelationalMethods<out R extends AnyRow, Kind extends DerivedKind> extends RowMethods<R, Kind> {
  /**
   * Groups rows with equal keys: `groupBy("city", col("at").year().as("year")).agg({ n: count() })`. Without keys, all
   * rows are one group: `groupBy().agg({ n: count() })` is a dataset of one row, which can be joined, for example.
   */
  groupBy<const Items extends readonly SelectItem<R>[], Row extends AnyRow = R>(
    ...keys: Items
  ): GroupedDataset<Row, Selected<Row, Items>, Kind> {
    return new GroupedDataset(
      this.plan,
      keys.length === 0 ? [] : namedItems("groupBy", keys),
      <O extends AnyRow>(operator: string, plan: Plan) => this.derive<O>(operator, plan),
    );
  }

  /** All rows, ordered by a key or by several; the first key decides first. */
  sort(keys: SortBy<R> | readonly SortBy<R>[], options: SortOptions = {}): Derived<Kind, R> {
    return this.derive("sort", sort(this.plan, sortKeys(keys, options)));
  }

  /**
   * The first `rows` rows by a key, overall or in each partition: `topN(3, { by: "fare", partitionBy: "city",
   * descending: true })`. Without partitions, the rows come in that order. The order among rows with equal keys is
   * undefined.
   */
  topN(rows: number, options: TopOptions<SortBy<R>, SortBy<R>>): Derived<Kind, R> {
    const { by, partitionBy } = options;
    checkKeys("topN", options, ["by", "partitionBy", "descending", "nulls"]);
    const wanted = wholeNumber("topN", "the number of rows", rows);
    const orderBy = orderKeys("topN", keyList("topN", by), options);
    if (partitionBy === undefined) return this.derive("topN", limit(sort(this.plan, orderBy), 0, wanted));
    const place = windowOf(windowCall("rowNumber"), { partitionBy: keyList("topN", partitionBy), orderBy });
    return this.derive("topN", filter(this.plan, call("le", place, literal(wanted))));
  }

  /** One row of those that are equal in these columns, or in all columns. Which of them is undefined. */
  distinct(...columns: readonly ColumnName<R>[]): Derived<Kind, R> {
    return this.derive(
      "distinct",
      distinct(this.plan, columns.length === 0 ? null : textList("distinct", "the columns", columns)),
    );
  }

  /**
   * The rows of this dataset next to the rows of the other one with the same keys; null equals nothing. Columns of this
   * dataset come first, then those of the other without its keys. In right and full joins, a row that only the other
   * dataset has keeps the keys it has there.
   */
  join<Other extends AnyRow, const O extends JoinOptions<R, Other>, Row extends AnyRow = R>(
    other: Dataset<Other>,
    options: O,
  ): Derived<Kind, Joined<Row, Other, O>> {
    return this.derive("join", join({ left: this.plan, right: this.planOf("join", other), ...joinKeys(options) }));
  }

  /**
   * The rows of this dataset and of the other side by side: the first next to the first. Both must have the same number
   * of rows.
   */
  zip<Other extends AnyRow, const O extends ZipOptions = ZipOptions, Row extends AnyRow = R>(
    other: Dataset<Other>,
    options?: O,
  ): Derived<Kind, Zipped<Row, Other, O>> {
    checkKeys("zip", options ?? {}, ["suffix"]);
    const { suffix = "_right" } = options ?? {};
    return this.derive("zip", zip(this.plan, this.planOf("zip", other), text("zip", "suffix", suffix)));
  }

  /** All rows in a random order. The same seed over the same rows gives the same order. */
  randomShuffle(options: { readonly seed?: number } = {}): Derived<Kind, R> {
    checkKeys("randomShuffle", options, ["seed"]);
    return this.derive("randomShuffle", shuffle(this.plan, seedOf("randomShuffle", options.seed)));
  }

  /**
   * The same rows, in their order, in this many partitions with equal numbers of rows; or cut by rows, bytes or keys.
   */
  repartition(into: number | RepartitionOptions<ColumnName<R>>): Derived<Kind, R> {
    return this.derive("repartition", repartition(this.plan, intoPartitions(into)));
  }

  /** Like `repartition(n)`: `ds.intoPartitions(2 * (await ds.numPartitions()))` halves every partition. */
  intoPartitions(count: number): Derived<Kind, R> {
    const parts = positiveInteger("intoPartitions", "the number of partitions", count);
    return this.derive("intoPartitions", repartition(this.plan, { kind: "parts", count: parts }));
  }
}

function sortKeys(keys: unknown, options: SortOptions): readonly SortKey[] {
  checkKeys("sort", options, ["descending", "nulls"]);
  return orderKeys("sort", keyList("sort", keys), options);
}

function keyList(operator: string, keys: unknown): readonly Expression[] {
  const list: readonly unknown[] = Array.isArray(keys) ? keys : [keys];
  if (list.length === 0) throw new OptionError(`${operator}: name at least one key.`);
  return list.map((key) => {
    if (key instanceof Expr) return key.expression;
    if (typeof key === "string") return column(text(operator, "a key", key));
    throw new OptionError(`${operator}: ${describe(key)} is neither a name nor an expression.`);
  });
}

function intoPartitions(into: unknown): RepartitionNode["into"] {
  const operator = "repartition";
  if (typeof into === "number") {
    return { kind: "parts", count: positiveInteger(operator, "the number of partitions", into) };
  }
  if (typeof into !== "object" || into === null) {
    throw new OptionError(`${operator}: ${describe(into)} is neither a number nor options.`);
  }
  checkKeys(operator, into, ["targetRows", "targetBytes", "keys", "count"]);
  const given = ["targetRows", "targetBytes", "keys"].filter((name) => name in into);
  if (given.length !== 1)
    throw new OptionError(`${operator}: give a number, or one of targetRows, targetBytes and keys.`);
  if ("count" in into && !("keys" in into)) {
    throw new OptionError(`${operator}: count needs keys. For partitions of equal size, use repartition(n).`);
  }
  if ("targetRows" in into) return { kind: "rows", rows: positiveInteger(operator, "targetRows", into.targetRows) };
  if ("targetBytes" in into) {
    const { targetBytes } = into;
    if (typeof targetBytes !== "number" && typeof targetBytes !== "string") {
      throw new OptionError(
        `${operator}: targetBytes is ${describe(targetBytes)}; it must be a size, such as "64 MiB".`,
      );
    }
    return {
      kind: "bytes",
      bytes: positiveInteger(operator, "targetBytes", parseSize(targetBytes, { name: `${operator}: targetBytes` })),
    };
  }
  const keys = "keys" in into ? into.keys : undefined;
  const count = "count" in into && into.count !== undefined ? positiveInteger(operator, "count", into.count) : null;
  return { kind: "keys", keys: textList(operator, "keys", typeof keys === "string" ? [keys] : keys), count };
}
