/**
 * A dataset: a lazy plan over an engine. Methods that transform build a node and give a new dataset; methods that consume
 * run the plan (their work is in consume/, write.ts and explain.ts). Immutable but for the figures of its last run.
 */
import { Readable } from "node:stream";
import type { Table } from "@uwdata/flechette";
import { concatBatches, emptyBatch, type RecordBatch, toFlechette, type ValueOptions } from "../arrow/index.ts";
import { OptionError } from "../errors/index.ts";
import {
  checkLiteral,
  column,
  drop,
  dropNull,
  explode,
  fillNull,
  filter,
  type Literal,
  limit,
  type NamedExpression,
  type Plan,
  project,
  rename,
  sample,
  scan,
  union,
} from "../plan/index.ts";
import type { JobStats } from "../protocol/index.ts";
import type { AnyFormat, BatchClass, ClassOptions } from "./batch-functions.ts";
import { checkedBatches, type IterBatchesOptions } from "./consume/batch-options.ts";
import { batchesOf } from "./consume/batches.ts";
import { type Blocks, blocksOf, DEFAULT_PREFETCH, type Run } from "./consume/blocks.ts";
import { countRows } from "./consume/count.ts";
import { collectRows, RowIterator } from "./consume/rows.ts";
import { type DatasetSchema, schemaOf } from "./consume/schema.ts";
import { showRows } from "./consume/show.ts";
import type { Engine } from "./engine.ts";
import { explainText } from "./explain.ts";
import { Expr } from "./expressions/index.ts";
import {
  type BatchFunctionOptions,
  checkedValues,
  functionOver,
  onlyValues,
  type RowFunctionOptions,
  valueKeys,
} from "./functions.ts";
import { heldSource, type Materialized, materialized } from "./materialize.ts";
import { checkKeys, describe, positiveInteger, text, textList, wholeNumber } from "./options.ts";
import { DatasetPipeline, repeated, type WindowOptions, whole, windowed } from "./pipeline/index.ts";
import type {
  AnyColumns,
  AnyRow,
  BatchResult,
  ColumnName,
  ColumnsBatch,
  Condition,
  Dropped,
  Exploded,
  Renamed,
  RowOfColumns,
  Selected,
  SelectItem,
  WithColumn,
} from "./row-types.ts";
import { type SampleOptions, sampleSize } from "./sample-options.ts";
import { type DatasetStats, datasetStats } from "./stats.ts";
import { type WriteOptions, type WriteSummary, writeFiles } from "./write.ts";

/** @internal What pipelines build on. */
export let insideOf: (dataset: Dataset) => { readonly engine: Engine; readonly plan: Plan };

/**
 * `R` is the row type. Where a method's types are computed from it, that is said as a default of a type parameter
 * (`Row = R`), which nobody gives: so a dataset of more columns can stand where one of fewer is wanted, which the compiler
 * could not prove otherwise.
 */
export class Dataset<out R extends AnyRow = AnyRow> {
  static {
    insideOf = (dataset) => ({ engine: dataset.#engine, plan: dataset.#plan });
  }

  readonly #engine: Engine;
  readonly #plan: Plan;
  readonly #eager: boolean;
  #stats: JobStats | null = null;

  /** @internal Datasets come from sources and from each other. */
  constructor(engine: Engine, plan: Plan, eager: boolean = engine.settings.eager) {
    this.#engine = engine;
    this.#plan = plan;
    this.#eager = eager;
  }

  // Rows and batches through functions

  /** A row for each row. */
  map<O extends AnyRow>(fn: (row: R) => O | Promise<O>, options: RowFunctionOptions = {}): Dataset<O> {
    return this.#then(functionOver(this.#plan, "map", fn, options));
  }

  /** Any number of rows for each row. */
  flatMap<O extends AnyRow>(
    fn: (row: R) => Iterable<O> | AsyncIterable<O> | Promise<Iterable<O>>,
    options: RowFunctionOptions = {},
  ): Dataset<O> {
    return this.#then(functionOver(this.#plan, "flatMap", fn, options));
  }

  /** The rows for which the function gives true, or for which the condition holds. */
  filter<S extends R>(fn: (row: R) => row is S, options?: RowFunctionOptions): Dataset<S>;
  filter(fn: (row: R) => boolean | Promise<boolean>, options?: RowFunctionOptions): Dataset<R>;
  filter(condition: Condition<R>): Dataset<R>;
  filter(test: unknown, options: RowFunctionOptions = {}): Dataset<R> {
    if (test instanceof Expr) return this.#then(filter(this.#plan, test.expression));
    return this.#then(functionOver(this.#plan, "filter", test, options));
  }

  /** The rows for which the condition is true; null is not. */
  where(condition: Condition<R>): Dataset<R> {
    if (!(condition instanceof Expr)) {
      throw new OptionError(`where: an expression is needed, not ${describe(condition)}. For a function use filter.`);
    }
    return this.#then(filter(this.#plan, condition.expression));
  }

  /** Batches of rows through a function or a class. */
  mapBatches<C extends AnyColumns, Batch = ColumnsBatch<R>>(
    fn: (batch: Batch) => BatchResult<C>,
    options?: BatchFunctionOptions & { readonly batchFormat?: "columns" },
  ): Dataset<RowOfColumns<C>>;
  mapBatches<O extends AnyRow>(
    fn: (batch: R[]) => BatchResult<readonly O[]>,
    options: BatchFunctionOptions & { readonly batchFormat: "rows" },
  ): Dataset<O>;
  mapBatches<O extends AnyRow = AnyRow>(
    fn: (batch: Table) => BatchResult<unknown>,
    options: BatchFunctionOptions & { readonly batchFormat: "arrow" },
  ): Dataset<O>;
  mapBatches<C extends AnyColumns, Args extends readonly unknown[], Batch = ColumnsBatch<R>>(
    fn: BatchClass<Batch, C, Args>,
    options?: ClassOptions<Args> & { readonly batchFormat?: "columns" },
  ): Dataset<RowOfColumns<C>>;
  mapBatches<O extends AnyRow, Args extends readonly unknown[]>(
    fn: BatchClass<R[], readonly O[], Args>,
    options: ClassOptions<Args> & { readonly batchFormat: "rows" },
  ): Dataset<O>;
  mapBatches<O extends AnyRow, Args extends readonly unknown[]>(
    fn: BatchClass<Table, unknown, Args>,
    options: ClassOptions<Args> & { readonly batchFormat: "arrow" },
  ): Dataset<O>;
  mapBatches<O extends AnyRow = AnyRow, Options extends BatchFunctionOptions = BatchFunctionOptions>(
    fn: (batch: never) => unknown,
    options: Options & AnyFormat<Options>,
  ): Dataset<O>;
  mapBatches(
    fn: unknown,
    options: BatchFunctionOptions & { readonly constructorArgs?: readonly unknown[] } = {},
  ): Dataset<AnyRow> {
    return this.#then(functionOver(this.#plan, "mapBatches", fn, options));
  }

  // Columns

  /** These columns only, in this order: names, or expressions with a name. */
  select<const Items extends readonly SelectItem<R>[], Row = R>(...items: Items): Dataset<Selected<Row, Items>> {
    if (items.length === 0) throw new OptionError("select: name at least one column.");
    const named = items.map((item): NamedExpression => {
      if (typeof item === "string") return { name: text("select", "a column", item), expression: column(item) };
      if (!(item instanceof Expr))
        throw new OptionError(`select: ${describe(item)} is neither a name nor an expression.`);
      if (item.columnName === null) throw new OptionError('select: give the expression a name: .as("name").');
      return { name: item.columnName, expression: item.expression };
    });
    const twice = named.find(({ name }, i) => named.findIndex((other) => other.name === name) !== i);
    if (twice !== undefined) throw new OptionError(`select: "${twice.name}" is there twice.`);
    return this.#then(project(this.#plan, "select", named, "select"));
  }

  drop<const N extends ColumnName<R>, Row extends AnyRow = R>(...names: readonly N[]): Dataset<Dropped<Row, N>> {
    if (names.length === 0) throw new OptionError("drop: name at least one column.");
    return this.#then(drop(this.#plan, textList("drop", "the columns", names)));
  }

  /** `rename({ old: "new" })` */
  rename<const M extends { readonly [K in ColumnName<R>]?: string }, Row extends AnyRow = R>(
    names: M,
  ): Dataset<Renamed<Row, M>> {
    const pairs = Object.entries(names).map(([from, to]): [string, string] => [from, text("rename", `"${from}"`, to)]);
    return this.#then(rename(this.#plan, new Map(pairs)));
  }

  /** The column computed for every row; one of that name is replaced. */
  withColumn<const N extends string, E extends Condition<R>, Row extends AnyRow = R>(
    name: N,
    expression: E,
  ): Dataset<WithColumn<Row, N, E>> {
    if (!(expression instanceof Expr)) {
      throw new OptionError(
        `withColumn: an expression is needed, not ${describe(expression)}. A constant is lit(value).`,
      );
    }
    const item = { name: text("withColumn", "the name", name), expression: expression.expression };
    return this.#then(project(this.#plan, "with", [item], "withColumn"));
  }

  /** Without the rows that have a null in one of the columns, or in any. */
  dropNull(columns?: readonly ColumnName<R>[]): Dataset<R> {
    return this.#then(
      dropNull(this.#plan, columns === undefined ? null : textList("dropNull", "the columns", columns)),
    );
  }

  /** A value for every null: one for all columns whose type takes it, or one by column. */
  fillNull(value: string | number | bigint | boolean | Date | { readonly [K in ColumnName<R>]?: Literal }): Dataset<R> {
    if (value === null || value === undefined) {
      throw new OptionError(
        `fillNull: a value is needed, not ${describe(value)}: fillNull(0) or fillNull({ price: 0 }).`,
      );
    }
    if (typeof value === "object" && !(value instanceof Date)) {
      const pairs = Object.entries(value).map(([name, fill]): [string, Literal] => [
        name,
        checkLiteral(fill, "fillNull"),
      ]);
      if (pairs.length === 0) return this;
      return this.#then(fillNull(this.#plan, { kind: "columns", values: new Map(pairs) }));
    }
    return this.#then(fillNull(this.#plan, { kind: "everywhere", value: checkLiteral(value, "fillNull") }));
  }

  /** A row for each item of a list column; a null or empty list gives none. */
  explode<const N extends ColumnName<R>, Row extends AnyRow = R>(name: N): Dataset<Exploded<Row, N>> {
    return this.#then(explode(this.#plan, text("explode", "the column", name)));
  }

  // Rows

  limit(rows: number): Dataset<R> {
    return this.#then(limit(this.#plan, 0, wholeNumber("limit", "the number of rows", rows)));
  }

  offset(rows: number): Dataset<R> {
    return this.#then(limit(this.#plan, wholeNumber("offset", "the number of rows", rows), null));
  }

  /** The rows of this one, then of the others; columns by name. */
  union(...others: readonly Dataset<R>[]): Dataset<R> {
    for (const other of others) {
      if (!(other instanceof Dataset)) throw new OptionError(`union: ${describe(other)} is no dataset.`);
      if (other.#engine !== this.#engine) throw new OptionError("union: the datasets are of different sessions.");
    }
    return this.#then(union([this.#plan, ...others.map((other) => other.#plan)]));
  }

  /** Some of the rows: about a fraction of them, or a number. The same seed gives the same rows of the same data. */
  sample(options: SampleOptions): Dataset<R> {
    checkKeys("sample", options, ["fraction", "rows", "seed"]);
    const { fraction, rows, seed = Math.floor(Math.random() * 2 ** 31) } = options;
    return this.#then(sample(this.#plan, sampleSize(fraction, rows), wholeNumber("sample", "seed", seed)));
  }

  // Pipelines

  /** The rows a window at a time: what follows runs per window, and only one is ever in the store. */
  window(options: WindowOptions): DatasetPipeline<R> {
    return new DatasetPipeline<R>(windowed(this.#engine, this.#plan, options));
  }

  /** The rows again and again, read anew each time: so many epochs, or without end. */
  repeat(epochs?: number): DatasetPipeline<R> {
    return new DatasetPipeline<R>(repeated(whole(this.#engine, this.#plan), epochs));
  }

  // Consuming

  async take(rows: number, values: ValueOptions = {}): Promise<R[]> {
    const head = limit(this.#plan, 0, wholeNumber("take", "the number of rows", rows));
    return collectRows(this.#run(head), onlyValues("take", values));
  }

  async takeAll(values: ValueOptions = {}): Promise<R[]> {
    return collectRows(this.#run(), onlyValues("takeAll", values));
  }

  /** Prints the first rows as a table, and gives its text. */
  show(rows = 20): Promise<string> {
    return showRows((count, values) => this.take(count, values), rows);
  }

  count(): Promise<number> {
    return countRows(this.#run());
  }

  schema(): Promise<DatasetSchema> {
    return schemaOf(this.#run());
  }

  /** Rows one by one. Leaving the loop early cancels the work and frees everything. */
  iterRows(options: ValueOptions & { readonly prefetch?: number } = {}): AsyncIterableIterator<R> {
    checkKeys("iterRows", options, [...valueKeys, "prefetch"]);
    const { prefetch = DEFAULT_PREFETCH } = options;
    const wanted = positiveInteger("iterRows", "prefetch", prefetch);
    return new RowIterator<R>(this.#blocks(), checkedValues("iterRows", options), wanted);
  }

  iterBatches<Batch = ColumnsBatch<R>>(
    options?: IterBatchesOptions & { readonly batchFormat?: "columns" },
  ): AsyncGenerator<Batch>;
  iterBatches(options: IterBatchesOptions & { readonly batchFormat: "rows" }): AsyncGenerator<R[]>;
  iterBatches(options: IterBatchesOptions & { readonly batchFormat: "arrow" }): AsyncGenerator<Table>;
  iterBatches(options: IterBatchesOptions = {}): AsyncGenerator<unknown> {
    return batchesOf(this.#blocks(), checkedBatches(options));
  }

  /** All rows as one table of `@uwdata/flechette`, in memory of its own. */
  async toArrow(values: Pick<ValueOptions, "int64" | "timestamp"> = {}): Promise<Table> {
    const copies: RecordBatch[] = [];
    for await (const block of blocksOf(this.#run())) {
      copies.push(concatBatches([block.read()]));
      block.release();
    }
    if (copies.length === 0) copies.push(emptyBatch({ fields: [] }));
    return toFlechette(copies, onlyValues("toArrow", values));
  }

  /** Rows as an object stream; destroying it cancels the work. */
  toNodeStream(values: ValueOptions = {}): Readable {
    return Readable.from(this.iterRows(values), { objectMode: true });
  }

  /** Runs now and keeps the result in the store until it is disposed of or collected. */
  async materialize(): Promise<MaterializedDataset<R>> {
    return new MaterializedDataset<R>(this.#engine, await materialized(this.#run()));
  }

  writeParquet(
    directory: string,
    options: WriteOptions<ColumnName<R>, "snappy" | "zstd" | "gzip" | "lz4" | "brotli" | "uncompressed"> = {},
  ): Promise<WriteSummary> {
    return writeFiles(this.#run(), "parquet", directory, options);
  }

  writeCsv(
    directory: string,
    options: WriteOptions<ColumnName<R>, "gzip" | "zstd" | "none"> = {},
  ): Promise<WriteSummary> {
    return writeFiles(this.#run(), "csv", directory, options);
  }

  /** A JSON object a line. */
  writeJson(
    directory: string,
    options: WriteOptions<ColumnName<R>, "gzip" | "zstd" | "none"> = {},
  ): Promise<WriteSummary> {
    return writeFiles(this.#run(), "json", directory, options);
  }

  writeArrow(directory: string, options: WriteOptions<ColumnName<R>, "none"> = {}): Promise<WriteSummary> {
    return writeFiles(this.#run(), "arrow", directory, options);
  }

  // About

  /** Figures of this dataset's last run. */
  stats(): DatasetStats {
    return datasetStats(this.#stats);
  }

  /** The plan, what the rules made of it, and the stages that will run. Reads metadata, runs nothing. */
  explain(): Promise<string> {
    return explainText(this.#engine, this.#plan);
  }

  /** The same dataset, from here on without running anything before it is consumed (see `session({ eager: true })`). */
  lazy(): Dataset<R> {
    return new Dataset<R>(this.#engine, this.#plan, false);
  }

  #blocks(): Blocks {
    return (prefetch, left) => blocksOf(this.#run(), prefetch, left);
  }

  #run(plan: Plan = this.#plan): Run {
    return {
      engine: this.#engine,
      plan,
      ended: (stats) => {
        this.#stats = stats;
      },
    };
  }

  /** The dataset of a node over this one; an eager one starts at once and keeps its result. */
  #then<O extends AnyRow>(plan: Plan): Dataset<O> {
    if (!this.#eager) return new Dataset<O>(this.#engine, plan, false);
    const result = materialized({ engine: this.#engine, plan, ended: () => {} });
    // Its error is told to whoever consumes it.
    result.catch(() => {});
    const name = plan.kind === "project" ? plan.operator : plan.kind === "function" ? plan.form : plan.kind;
    return new Dataset<O>(this.#engine, scan(heldSource(this.#engine, name, result)), true);
  }
}

/** A dataset whose rows are in the store. */
export class MaterializedDataset<out R extends AnyRow = AnyRow> extends Dataset<R> {
  readonly #held: Materialized;

  /** @internal Made by `materialize`. */
  constructor(engine: Engine, held: Materialized) {
    super(engine, scan(heldSource(engine, "materialized", Promise.resolve(held))));
    this.#held = held;
  }

  get numBlocks(): number {
    return this.#held.slices.length;
  }

  get byteLength(): number {
    return this.#held.slices.reduce(
      (sum, { block, start, end }) => sum + (block.length * (end - start)) / block.rows,
      0,
    );
  }

  /** Frees the blocks. Datasets built on this one cannot run any more. */
  dispose(): void {
    this.#held.hold.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
  }
}
