/**
 * A dataset: a lazy plan over an engine. Transforming methods add a node and return a new dataset. Consuming methods
 * run the plan (their work is in consume/, write.ts and explain.ts). Immutable except for the figures of the last run.
 */
import { Readable } from "node:stream";
import { emptyBatch, type Table, toFlechette, type ValueOptions } from "../arrow/index.ts";
import { isOrdered, limit, type Plan, scan } from "../plan/index.ts";
import type { FileFormat } from "../protocol/index.ts";
import { AggregateMethods } from "./aggregate-methods.ts";
import { checkedBatches, type IterBatchesOptions } from "./consume/batch-options.ts";
import { batchesOf } from "./consume/batches.ts";
import { type Blocks, blocksOf, copiesOfBlocks, DEFAULT_PREFETCH } from "./consume/blocks.ts";
import { Cancellation, type CancelOptions, cancelKeys, never } from "./consume/cancellation.ts";
import { countRows } from "./consume/count.ts";
import { countPartitions } from "./consume/partitions.ts";
import { collectRows, RowIterator } from "./consume/rows.ts";
import { type DatasetSchema, schemaOf } from "./consume/schema.ts";
import { showRows } from "./consume/show.ts";
import { splitRows, type TrainTestOptions, trainTestRows } from "./consume/split.ts";
import { type Diagnosis, diagnosis } from "./diagnosis.ts";
import type { Engine } from "./engine.ts";
import { type ExplainOptions, explained } from "./explain.ts";
import { checkedValues, onlyValues, valueKeys } from "./functions.ts";
import { heldSource, type Materialized, materialized } from "./materialize.ts";
import { checkKeys, positiveInteger, wholeNumber } from "./options.ts";
import { DatasetPipeline, repeated, type WindowOptions, whole, windowed } from "./pipeline/index.ts";
import type { AnyRow, ColumnName, ColumnsBatch } from "./row-types.ts";
import { type DatasetStats, datasetStats } from "./stats.ts";
import { type WriteOptions, type WriteSummary, writeFiles, writerNames } from "./write.ts";

/**
 * `R` is the row type. A method's types that are computed from it are defaults of a type parameter (`Row = R`) that
 * callers leave alone. So a dataset with more columns can be passed where fewer are needed, which the compiler could
 * not prove otherwise.
 */
export class Dataset<out R extends AnyRow = AnyRow> extends AggregateMethods<R> {
  readonly #eager: boolean;

  /** @internal Datasets come from sources and from other datasets. */
  constructor(engine: Engine, plan: Plan, eager: boolean = engine.settings.eager) {
    super(engine, plan);
    this.#eager = eager;
  }

  // Pipelines

  /** The rows in windows: what follows runs on one window at a time, and only one window is ever in the store. */
  window(options: WindowOptions): DatasetPipeline<R> {
    return new DatasetPipeline<R>(windowed(this.engine, this.plan, options));
  }

  /** The rows several times over, read anew each time: this many epochs, or without end. */
  repeat(epochs?: number): DatasetPipeline<R> {
    return new DatasetPipeline<R>(repeated(whole(this.engine, this.plan), epochs));
  }

  // Consuming

  async take(rows: number, options: ValueOptions & CancelOptions = {}): Promise<R[]> {
    return this.#take("take", rows, options);
  }

  async takeAll(options: ValueOptions & CancelOptions = {}): Promise<R[]> {
    const values = onlyValues("takeAll", options);
    return this.consume("takeAll", options, (run) => collectRows(run, values));
  }

  /** Prints the first rows as a table and returns its text. */
  async show(rows = 20, options: CancelOptions = {}): Promise<string> {
    checkKeys("show", options, cancelKeys);
    return showRows((count, values) => this.#take("show", count, { ...values, ...options }), rows);
  }

  async count(options: CancelOptions = {}): Promise<number> {
    checkKeys("count", options, cancelKeys);
    return this.consume("count", options, countRows);
  }

  async schema(options: CancelOptions = {}): Promise<DatasetSchema> {
    checkKeys("schema", options, cancelKeys);
    return this.consume("schema", options, schemaOf);
  }

  /** Rows one by one. Leaving the loop early cancels the work and frees everything. */
  iterRows(options: ValueOptions & CancelOptions & { readonly prefetch?: number } = {}): AsyncIterableIterator<R> {
    checkKeys("iterRows", options, [...valueKeys, ...cancelKeys, "prefetch"]);
    return this.#rows(new Cancellation("iterRows", options), options);
  }

  iterBatches<Batch = ColumnsBatch<R>>(
    options?: IterBatchesOptions & { readonly batchFormat?: "columns" },
  ): AsyncGenerator<Batch>;
  iterBatches(options: IterBatchesOptions & { readonly batchFormat: "rows" }): AsyncGenerator<R[]>;
  iterBatches(options: IterBatchesOptions & { readonly batchFormat: "arrow" }): AsyncGenerator<Table>;
  iterBatches(options: IterBatchesOptions = {}): AsyncGenerator<unknown> {
    const cancellation = new Cancellation("iterBatches", options);
    const checked = checkedBatches(options);
    return batchesOf(this.#blocks(cancellation, checked.inOrder), checked, cancellation);
  }

  /** All rows as one table of `@uwdata/flechette`, in memory of its own. */
  async toArrow(options: Pick<ValueOptions, "int64" | "timestamp"> & CancelOptions = {}): Promise<Table> {
    const values = onlyValues("toArrow", options);
    const copies = await this.consume("toArrow", options, copiesOfBlocks);
    if (copies.length === 0) copies.push(emptyBatch({ fields: [] }));
    return toFlechette(copies, values);
  }

  /** Rows as an object stream; destroying it cancels the work. */
  toNodeStream(options: ValueOptions & CancelOptions = {}): Readable {
    onlyValues("toNodeStream", options);
    const cancellation = new Cancellation("toNodeStream", options);
    const stream = Readable.from(this.#rows(cancellation, options), { objectMode: true });
    cancellation.onCancel(() => stream.destroy(cancellation.error ?? undefined));
    return stream;
  }

  /** Runs the plan now and keeps the result in the store until it is disposed of or garbage-collected. */
  async materialize(options: CancelOptions = {}): Promise<MaterializedDataset<R>> {
    checkKeys("materialize", options, cancelKeys);
    return new MaterializedDataset<R>(this.engine, await this.consume("materialize", options, materialized));
  }

  /**
   * How many partitions the rows are in: the tasks of a read, or the blocks. Runs the plan if it cannot tell otherwise.
   */
  async numPartitions(options: CancelOptions = {}): Promise<number> {
    checkKeys("numPartitions", options, cancelKeys);
    return this.consume("numPartitions", options, countPartitions);
  }

  /**
   * Runs the plan now and cuts the result, in order, into this many datasets with the same number of rows (or one
   * more).
   */
  async split(parts: number, options: CancelOptions = {}): Promise<MaterializedDataset<R>[]> {
    checkKeys("split", options, cancelKeys);
    const count = positiveInteger("split", "the number of parts", parts);
    const held = await this.consume("split", options, (run) => splitRows(run, count));
    return held.map((part) => new MaterializedDataset<R>(this.engine, part));
  }

  /**
   * Runs the plan now and cuts the result in two; the last rows are the test rows. `shuffle` shuffles before the cut.
   */
  async trainTestSplit(
    options: TrainTestOptions,
  ): Promise<{ train: MaterializedDataset<R>; test: MaterializedDataset<R> }> {
    const { train, test } = await this.consume("trainTestSplit", options, (run) => trainTestRows(run, options));
    return {
      train: new MaterializedDataset<R>(this.engine, train),
      test: new MaterializedDataset<R>(this.engine, test),
    };
  }

  writeParquet(
    directory: string | URL,
    options: WriteOptions<ColumnName<R>, "snappy" | "zstd" | "gzip" | "lz4" | "brotli" | "uncompressed"> = {},
  ): Promise<WriteSummary> {
    return this.#write("parquet", directory, options);
  }

  writeCsv(
    directory: string | URL,
    options: WriteOptions<ColumnName<R>, "gzip" | "zstd" | "none"> = {},
  ): Promise<WriteSummary> {
    return this.#write("csv", directory, options);
  }

  /** Writes one JSON object a line. */
  writeJson(
    directory: string | URL,
    options: WriteOptions<ColumnName<R>, "gzip" | "zstd" | "none"> = {},
  ): Promise<WriteSummary> {
    return this.#write("json", directory, options);
  }

  writeArrow(directory: string | URL, options: WriteOptions<ColumnName<R>, "none"> = {}): Promise<WriteSummary> {
    return this.#write("arrow", directory, options);
  }

  // About

  /** Figures of this dataset's last run; while it runs, or where it failed, as far as it has come. */
  stats(): DatasetStats {
    return datasetStats(this.latestStats, this.endedEarly);
  }

  /** What stands out in the figures of `stats()`, with numbers and what to do about it. */
  diagnose(): Diagnosis {
    return diagnosis(this.latestStats, this.endedEarly);
  }

  /**
   * The plan, what the rules made of it, and the stages that will run, with estimates and, after a run, its figures.
   * Reads metadata only; `analyze` runs the plan.
   */
  explain(options: ExplainOptions = {}): Promise<string> {
    return this.consume("explain", options, (run) => explained(run, this.lastStats, options));
  }

  /**
   * The same dataset, but operators added from here on run only when the result is consumed (see `session({ eager: true
   * })`).
   */
  lazy(): Dataset<R> {
    return new Dataset<R>(this.engine, this.plan, false);
  }

  #take(operator: string, rows: number, options: ValueOptions & CancelOptions): Promise<R[]> {
    const head = limit(this.plan, 0, wholeNumber(operator, "the number of rows", rows));
    const values = onlyValues(operator, options);
    return this.consume(operator, options, (run) => collectRows<R>(run, values), head);
  }

  #rows(
    cancellation: Cancellation,
    { prefetch = DEFAULT_PREFETCH, ...values }: ValueOptions & { readonly prefetch?: number },
  ): RowIterator<R> {
    const wanted = positiveInteger("iterRows", "prefetch", prefetch);
    return new RowIterator<R>(this.#blocks(cancellation), checkedValues("iterRows", values), wanted, cancellation);
  }

  #blocks(cancellation: Cancellation, inOrder = false): Blocks {
    return cancellation.overBlocks((prefetch, left) =>
      blocksOf({ ...this.run(this.plan, cancellation), inOrder }, prefetch, left),
    );
  }

  #write(format: FileFormat, directory: string | URL, options: WriteOptions): Promise<WriteSummary> {
    return this.consume(writerNames[format], options, (run) => writeFiles(run, format, directory, options));
  }

  protected override get kind(): "dataset" {
    return "dataset";
  }

  /** An eager dataset starts to run at once and keeps its result. */
  protected override derive<O extends AnyRow>(operator: string, plan: Plan): Dataset<O> {
    if (!this.#eager) return new Dataset<O>(this.engine, plan, false);
    const result = materialized({ engine: this.engine, plan, going: () => {}, ended: () => {}, cancellation: never });
    // The error is thrown by the method that consumes the dataset.
    result.catch(() => {});
    return new Dataset<O>(this.engine, scan(heldSource(this.engine, operator, result, isOrdered(plan))), true);
  }
}

/** A dataset whose rows are in the store. */
export class MaterializedDataset<out R extends AnyRow = AnyRow> extends Dataset<R> {
  readonly #held: Materialized;

  /** @internal Made by `materialize`. */
  constructor(engine: Engine, held: Materialized) {
    super(engine, scan(heldSource(engine, "materialized", Promise.resolve(held), held.ordered)));
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

  /** Frees the blocks. Datasets built on this one can no longer run. */
  dispose(): void {
    this.#held.hold.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dispose();
  }
}
