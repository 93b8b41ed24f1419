/** Operators that look at one row or one batch at a time: functions, columns, limits, unions, samples. */
import type { Table } from "../arrow/index.ts";
import { OptionError } from "../errors/index.ts";
import {
  checkLiteral,
  drop,
  dropNull,
  explode,
  fillNull,
  filter,
  type Literal,
  limit,
  project,
  rename,
  sample,
  union,
} from "../plan/index.ts";
import { isDate, isPlainObject } from "../realm/index.ts";
import type { AnyFormat, BatchClass, ClassOptions } from "./batch-functions.ts";
import { DatasetCore, type Derived, type DerivedKind } from "./core.ts";
import type { Dataset } from "./dataset.ts";
import { Expr } from "./expressions/index.ts";
import { type BatchFunctionOptions, functionOver, type RowFunctionOptions } from "./functions.ts";
import { namedItems } from "./items.ts";
import { checkKeys, describe, seedOf, text, textList, wholeNumber } from "./options.ts";
import type {
  AnyColumns,
  AnyRow,
  BatchResult,
  ColumnName,
  ColumnsBatch,
  Condition,
  Dropped,
  Exploded,
  FilledBy,
  Renamed,
  RowOfColumns,
  Selected,
  SelectItem,
  WithColumn,
  WithoutNull,
} from "./row-types.ts";
import { type SampleOptions, sampleSize } from "./sample-options.ts";

export abstract class RowMethods<out R extends AnyRow, Kind extends DerivedKind> extends DatasetCore<Kind> {
  // Rows and batches through functions

  /** One row for each row. */
  map<O extends AnyRow>(fn: (row: R) => O | Promise<O>, options: RowFunctionOptions = {}): Derived<Kind, O> {
    return this.derive("map", functionOver(this.plan, "map", fn, options));
  }

  /** Any number of rows for each row. */
  flatMap<O extends AnyRow>(
    fn: (row: R) => Iterable<O> | AsyncIterable<O> | Promise<Iterable<O>>,
    options: RowFunctionOptions = {},
  ): Derived<Kind, O> {
    return this.derive("flatMap", functionOver(this.plan, "flatMap", fn, options));
  }

  /** The rows for which the function returns true, or for which the condition is true. */
  filter<S extends R>(fn: (row: R) => row is S, options?: RowFunctionOptions): Derived<Kind, S>;
  filter(fn: (row: R) => boolean | Promise<boolean>, options?: RowFunctionOptions): Derived<Kind, R>;
  filter(condition: Condition<R>): Derived<Kind, R>;
  filter(test: unknown, options: RowFunctionOptions = {}): Derived<Kind, R> {
    if (test instanceof Expr) return this.derive("filter", filter(this.plan, test.expression));
    return this.derive("filter", functionOver(this.plan, "filter", test, options));
  }

  /** The rows for which the condition is true; null is not true. */
  where(condition: Condition<R>): Derived<Kind, R> {
    if (!(condition instanceof Expr)) {
      throw new OptionError(`where: give an expression, not ${describe(condition)}. For a function, use filter.`);
    }
    return this.derive("where", filter(this.plan, condition.expression));
  }

  /** Batches of rows through a function or a class. */
  mapBatches<C extends AnyColumns, Batch = ColumnsBatch<R>>(
    fn: (batch: Batch) => BatchResult<C>,
    options?: BatchFunctionOptions & { readonly batchFormat?: "columns" },
  ): Derived<Kind, RowOfColumns<C>>;
  mapBatches<O extends AnyRow>(
    fn: (batch: R[]) => BatchResult<readonly O[]>,
    options: BatchFunctionOptions & { readonly batchFormat: "rows" },
  ): Derived<Kind, O>;
  mapBatches<O extends AnyRow = AnyRow>(
    fn: (batch: Table) => BatchResult<unknown>,
    options: BatchFunctionOptions & { readonly batchFormat: "arrow" },
  ): Derived<Kind, O>;
  mapBatches<C extends AnyColumns, Args extends readonly unknown[], Batch = ColumnsBatch<R>>(
    fn: BatchClass<Batch, C, Args>,
    options?: ClassOptions<Args> & { readonly batchFormat?: "columns" },
  ): Derived<Kind, RowOfColumns<C>>;
  mapBatches<O extends AnyRow, Args extends readonly unknown[]>(
    fn: BatchClass<R[], readonly O[], Args>,
    options: ClassOptions<Args> & { readonly batchFormat: "rows" },
  ): Derived<Kind, O>;
  mapBatches<O extends AnyRow, Args extends readonly unknown[]>(
    fn: BatchClass<Table, unknown, Args>,
    options: ClassOptions<Args> & { readonly batchFormat: "arrow" },
  ): Derived<Kind, O>;
  mapBatches<O extends AnyRow = AnyRow, Options extends BatchFunctionOptions = BatchFunctionOptions>(
    fn: (batch: never) => unknown,
    options: Options & AnyFormat<Options>,
  ): Derived<Kind, O>;
  mapBatches(
    fn: unknown,
    options: BatchFunctionOptions & { readonly constructorArgs?: readonly unknown[] } = {},
  ): Derived<Kind, AnyRow> {
    return this.derive("mapBatches", functionOver(this.plan, "mapBatches", fn, options));
  }

  // Columns

  /** Only these columns, in this order: names, or expressions with a name. */
  select<const Items extends readonly SelectItem<R>[], Row = R>(...items: Items): Derived<Kind, Selected<Row, Items>> {
    return this.derive("select", project(this.plan, "select", namedItems("select", items), "select"));
  }

  drop<const N extends ColumnName<R>, Row extends AnyRow = R>(...names: readonly N[]): Derived<Kind, Dropped<Row, N>> {
    if (names.length === 0) throw new OptionError("drop: name at least one column.");
    return this.derive("drop", drop(this.plan, textList("drop", "the columns", names)));
  }

  /** `rename({ old: "new" })` */
  rename<const M extends { readonly [K in ColumnName<R>]?: string }, Row extends AnyRow = R>(
    names: M,
  ): Derived<Kind, Renamed<Row, M>> {
    if (!isPlainObject(names)) {
      throw new OptionError(`rename: names must be an object, such as { old: "new" }, not ${describe(names)}.`);
    }
    const pairs = Object.entries(names).map(([from, to]): [string, string] => [from, text("rename", `"${from}"`, to)]);
    return this.derive("rename", rename(this.plan, new Map(pairs)));
  }

  /** Adds a column that is computed for every row; a column of that name is replaced. */
  withColumn<const N extends string, E extends Condition<R>, Row extends AnyRow = R>(
    name: N,
    expression: E,
  ): Derived<Kind, WithColumn<Row, N, E>> {
    if (!(expression instanceof Expr)) {
      throw new OptionError(`withColumn: give an expression, not ${describe(expression)}. A constant is lit(value).`);
    }
    const item = { name: text("withColumn", "the name", name), expression: expression.expression };
    return this.derive("withColumn", project(this.plan, "with", [item], "withColumn"));
  }

  /** Leaves out rows with a null in one of the columns, or in any column. */
  dropNull<const N extends ColumnName<R> = ColumnName<R>, Row extends AnyRow = R>(
    columns?: readonly N[],
  ): Derived<Kind, WithoutNull<Row, N>> {
    return this.derive(
      "dropNull",
      dropNull(this.plan, columns === undefined ? null : textList("dropNull", "the columns", columns)),
    );
  }

  /** Replaces every null by a value: one value for all columns whose type fits, or one for each column. */
  fillNull<
    const V extends string | number | bigint | boolean | Date | { readonly [K in ColumnName<R>]?: Literal },
    Row extends AnyRow = R,
  >(value: V): Derived<Kind, WithoutNull<Row, FilledBy<Row, V>>> {
    if (value === null || value === undefined) {
      throw new OptionError(`fillNull: give a value, not ${describe(value)}: fillNull(0) or fillNull({ price: 0 }).`);
    }
    if (typeof value === "object" && !isDate(value)) {
      const pairs = Object.entries(value).map(([name, fill]): [string, Literal] => [
        name,
        checkLiteral(fill, "fillNull"),
      ]);
      return this.derive("fillNull", fillNull(this.plan, { kind: "columns", values: new Map(pairs) }));
    }
    return this.derive("fillNull", fillNull(this.plan, { kind: "everywhere", value: checkLiteral(value, "fillNull") }));
  }

  /** One row for each item of a list column; a null or empty list gives no row. */
  explode<const N extends ColumnName<R>, Row extends AnyRow = R>(name: N): Derived<Kind, Exploded<Row, N>> {
    return this.derive("explode", explode(this.plan, text("explode", "the column", name)));
  }

  // Rows

  limit(rows: number): Derived<Kind, R> {
    return this.derive("limit", limit(this.plan, 0, wholeNumber("limit", "the number of rows", rows)));
  }

  offset(rows: number): Derived<Kind, R> {
    return this.derive("offset", limit(this.plan, wholeNumber("offset", "the number of rows", rows), null));
  }

  /** The rows of this dataset, then those of the others; columns are matched by name. */
  union(...others: readonly Dataset<R>[]): Derived<Kind, R> {
    return this.derive("union", union([this.plan, ...others.map((other) => this.planOf("union", other))]));
  }

  /** Some of the rows: about a fraction of them, or a number. The same seed gives the same rows of the same data. */
  sample(options: SampleOptions): Derived<Kind, R> {
    checkKeys("sample", options, ["fraction", "rows", "seed"]);
    const { fraction, rows, seed } = options;
    return this.derive("sample", sample(this.plan, sampleSize(fraction, rows), seedOf("sample", seed)));
  }
}
