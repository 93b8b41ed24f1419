/** A dataset's rows grouped by keys. Its methods say what is made of each group; they only build the plan. */
import type { Table } from "../arrow/index.ts";
import { STAYS, type Stays } from "../closure/index.ts";
import { OptionError } from "../errors/index.ts";
import {
  type AggregateName,
  aggregate,
  aggregateOf,
  column,
  type NamedExpression,
  type Plan,
  project,
} from "../plan/index.ts";
import type { AnyFormat, BatchClass, ClassOptions } from "./batch-functions.ts";
import { DATASET_STAYS, type Derived, type DerivedKind } from "./core.ts";
import { type BatchFunctionOptions, functionOver } from "./functions.ts";
import { itemsByName } from "./items.ts";
import { text } from "./options.ts";
import type { Aggregated, AggregateItems, GroupRow } from "./relational-types.ts";
import type { AnyRow, BatchResult, ColumnName, ColumnsBatch, Flat, Middle, RowOfGroup } from "./row-types.ts";

export interface GroupFunctionOptions extends BatchFunctionOptions {
  /** Rows in a batch of a streamed group. A group that is not streamed is one batch. Default 1024. */
  readonly batchSize?: number;
  /**
   * The function gets a group as an async iterable of batches, so that a group may be larger than memory. Default
   * false.
   */
  readonly stream?: boolean;
}

type Whole = { readonly stream?: false };
type Streamed = { readonly stream: true };

type Derive<Kind extends DerivedKind> = <O extends AnyRow>(operator: string, plan: Plan) => Derived<Kind, O>;

/** `R` is the row type, `Keys` the type of a group's keys; `Kind` says what the methods return. */
export class GroupedDataset<out R extends AnyRow, out Keys extends AnyRow, Kind extends DerivedKind = "dataset"> {
  readonly #input: Plan;
  readonly #keys: readonly NamedExpression[];
  readonly #derive: Derive<Kind>;

  /** @internal Made by `groupBy`. */
  constructor(input: Plan, keys: readonly NamedExpression[], derive: Derive<Kind>) {
    this.#input = input;
    this.#keys = keys;
    this.#derive = derive;
  }

  /** @internal The reason why a function that captures it is refused. */
  get [STAYS](): Stays {
    return DATASET_STAYS;
  }

  /** One row for each group: its keys and its aggregates. */
  agg<const Items extends AggregateItems<R, Keys>, Row = R, K = Keys>(
    items: Items,
  ): Derived<Kind, Aggregated<Row, K, Items>> {
    return this.#aggregate("agg", itemsByName("agg", items));
  }

  /** The number of rows of each group, in a column `count`. */
  count<K = Keys>(): Derived<Kind, Flat<K & { count: number }>> {
    return this.#aggregate("count", [{ name: "count", expression: aggregateOf("count", null) }]);
  }

  /** The sums of these columns, each under the column's own name. The methods below work in the same way. */
  sum<const N extends ColumnName<R>, K = Keys>(
    ...columns: readonly N[]
  ): Derived<Kind, Flat<K & { [C in N]: number }>> {
    return this.#each("sum", columns);
  }

  mean<const N extends ColumnName<R>, Row = R, K = Keys>(
    ...columns: readonly N[]
  ): Derived<Kind, Flat<K & { [C in N]: Middle<C extends keyof Row ? Row[C] : unknown> }>> {
    return this.#each("mean", columns);
  }

  min<const N extends ColumnName<R>, Row = R, K = Keys>(
    ...columns: readonly N[]
  ): Derived<Kind, Flat<K & { [C in N]: C extends keyof Row ? Row[C] : unknown }>> {
    return this.#each("min", columns);
  }

  max<const N extends ColumnName<R>, Row = R, K = Keys>(
    ...columns: readonly N[]
  ): Derived<Kind, Flat<K & { [C in N]: C extends keyof Row ? Row[C] : unknown }>> {
    return this.#each("max", columns);
  }

  std<const N extends ColumnName<R>, K = Keys>(
    ...columns: readonly N[]
  ): Derived<Kind, Flat<K & { [C in N]: number | null }>> {
    return this.#each("std", columns);
  }

  var<const N extends ColumnName<R>, K = Keys>(
    ...columns: readonly N[]
  ): Derived<Kind, Flat<K & { [C in N]: number | null }>> {
    return this.#each("var", columns);
  }

  median<const N extends ColumnName<R>, Row = R, K = Keys>(
    ...columns: readonly N[]
  ): Derived<Kind, Flat<K & { [C in N]: Middle<C extends keyof Row ? Row[C] : unknown> }>> {
    return this.#each("quantile", columns, 0.5);
  }

  countDistinct<const N extends ColumnName<R>, K = Keys>(
    ...columns: readonly N[]
  ): Derived<Kind, Flat<K & { [C in N]: number }>> {
    return this.#each("countDistinct", columns);
  }

  /**
   * Calls a function or a class with each whole group. It returns rows as a batch function does, or one row: an object
   * whose values are not all arrays. Computed keys are columns of the group's rows, too. With `stream`, the function
   * gets the batches of the group one after the other.
   */
  mapGroups<C extends AnyRow, Batch = ColumnsBatch<GroupRow<R, Keys>>>(
    fn: (group: Batch) => BatchResult<C>,
    options?: GroupFunctionOptions & Whole & { readonly batchFormat?: "columns" },
  ): Derived<Kind, RowOfGroup<C>>;
  mapGroups<O extends AnyRow, Row = GroupRow<R, Keys>>(
    fn: (group: Row[]) => BatchResult<readonly O[]>,
    options: GroupFunctionOptions & Whole & { readonly batchFormat: "rows" },
  ): Derived<Kind, O>;
  mapGroups<O extends AnyRow = AnyRow>(
    fn: (group: Table) => BatchResult<unknown>,
    options: GroupFunctionOptions & Whole & { readonly batchFormat: "arrow" },
  ): Derived<Kind, O>;
  mapGroups<C extends AnyRow, Batch = ColumnsBatch<GroupRow<R, Keys>>>(
    fn: (batches: AsyncIterable<Batch>) => BatchResult<C>,
    options: GroupFunctionOptions & Streamed & { readonly batchFormat?: "columns" },
  ): Derived<Kind, RowOfGroup<C>>;
  mapGroups<O extends AnyRow, Row = GroupRow<R, Keys>>(
    fn: (batches: AsyncIterable<Row[]>) => BatchResult<readonly O[]>,
    options: GroupFunctionOptions & Streamed & { readonly batchFormat: "rows" },
  ): Derived<Kind, O>;
  mapGroups<O extends AnyRow = AnyRow>(
    fn: (batches: AsyncIterable<Table>) => BatchResult<unknown>,
    options: GroupFunctionOptions & Streamed & { readonly batchFormat: "arrow" },
  ): Derived<Kind, O>;
  mapGroups<C extends AnyRow, Args extends readonly unknown[], Batch = ColumnsBatch<GroupRow<R, Keys>>>(
    fn: BatchClass<Batch, C, Args>,
    options?: GroupFunctionOptions & Whole & ClassOptions<Args> & { readonly batchFormat?: "columns" },
  ): Derived<Kind, RowOfGroup<C>>;
  mapGroups<O extends AnyRow, Args extends readonly unknown[], Row = GroupRow<R, Keys>>(
    fn: BatchClass<Row[], readonly O[], Args>,
    options: GroupFunctionOptions & Whole & ClassOptions<Args> & { readonly batchFormat: "rows" },
  ): Derived<Kind, O>;
  mapGroups<O extends AnyRow = AnyRow, Options extends GroupFunctionOptions = GroupFunctionOptions>(
    fn: (group: never) => unknown,
    options: Options & AnyFormat<Options>,
  ): Derived<Kind, O>;
  mapGroups(
    fn: unknown,
    options: GroupFunctionOptions & { readonly constructorArgs?: readonly unknown[] } = {},
  ): Derived<Kind, AnyRow> {
    if (this.#keys.length === 0) {
      throw new OptionError("mapGroups: groupBy names no key. For a function over all rows, use mapBatches.");
    }
    const computed = this.#keys.filter(
      ({ name, expression }) => expression.kind !== "column" || expression.name !== name,
    );
    const keyed = computed.length === 0 ? this.#input : project(this.#input, "with", computed, "groupBy");
    const keys = this.#keys.map(({ name }) => name);
    return this.#derive("mapGroups", functionOver(keyed, "mapGroups", fn, options, keys));
  }

  #each<O extends AnyRow>(name: AggregateName, columns: readonly string[], fraction?: number): Derived<Kind, O> {
    const operator = name === "quantile" ? "median" : name;
    if (columns.length === 0) throw new OptionError(`${operator}: name at least one column.`);
    const items = columns.map((each) => ({
      name: text(operator, "a column", each),
      expression: aggregateOf(name, column(each), { fraction }),
    }));
    return this.#aggregate(operator, items);
  }

  #aggregate<O extends AnyRow>(operator: string, items: readonly NamedExpression[]): Derived<Kind, O> {
    const names = [...this.#keys, ...items].map(({ name }) => name);
    const twice = names.find((name, i) => names.indexOf(name) !== i);
    if (twice !== undefined) {
      throw new OptionError(
        `${operator}: two columns would be called "${twice}". Give the key or the aggregate another name.`,
      );
    }
    return this.#derive(operator, aggregate(this.#input, this.#keys, items));
  }
}
