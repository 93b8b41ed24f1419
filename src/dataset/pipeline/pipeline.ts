/**
 * A pipeline: a dataset's rows window by window, epoch by epoch. Transforming methods are those of datasets; they say
 * what becomes of each window and return a new pipeline. Consuming methods run the windows one after the other (their
 * work is in consume.ts). A pipeline can be used once: deriving from it and consuming it both count.
 */
import type { Table, ValueOptions } from "../../arrow/index.ts";
import { OptionError } from "../../errors/index.ts";
import type { Plan } from "../../plan/index.ts";
import type { FileFormat, JobStats } from "../../protocol/index.ts";
import { checkedBatches, type IterBatchesOptions } from "../consume/batch-options.ts";
import { batchesOf } from "../consume/batches.ts";
import { DEFAULT_PREFETCH } from "../consume/blocks.ts";
import { Cancellation, type CancelOptions, cancelKeys, never } from "../consume/cancellation.ts";
import { RowIterator } from "../consume/rows.ts";
import { type DatasetSchema, schemaOf } from "../consume/schema.ts";
import { showRows } from "../consume/show.ts";
import { insideOf } from "../core.ts";
import { Dataset } from "../dataset.ts";
import { type Diagnosis, diagnosis } from "../diagnosis.ts";
import { checkedValues, onlyValues, valueKeys } from "../functions.ts";
import { checkKeys, describe, positiveInteger, wholeNumber } from "../options.ts";
import { RelationalMethods } from "../relational-methods.ts";
import type { AnyRow, ColumnName, ColumnsBatch } from "../row-types.ts";
import type { SampleOptions } from "../sample-options.ts";
import { type DatasetStats, datasetStats } from "../stats.ts";
import { type WriteOptions, type WriteSummary, writerNames } from "../write.ts";
import { blocksOfWindows, countAll, type PipelineRun, takeRows, writeWindows } from "./consume.ts";
import {
  allWindows,
  anyWindow,
  epochWindows,
  isEndless,
  overAnyWindow,
  type Recipe,
  repeated,
  type WindowStep,
  withStep,
} from "./recipe.ts";
import { summed } from "./stats.ts";

/** `R` is the row type, as in a dataset. */
export class DatasetPipeline<out R extends AnyRow = AnyRow> extends RelationalMethods<R, "pipeline"> {
  readonly #recipe: Recipe;
  readonly #told: (stats: JobStats) => void;
  /** The operator that has used this pipeline. */
  #usedBy: string | null = null;
  #stats: JobStats | null = null;
  /** Figures of the window that runs now. */
  #going: JobStats | null = null;
  /** A window ended early, before it had figures. */
  #endedEarly = false;

  /** @internal Pipelines come from datasets and from each other. */
  constructor(recipe: Recipe, told: (stats: JobStats) => void = () => {}) {
    super(recipe.engine, anyWindow);
    this.#recipe = recipe;
    this.#told = told;
  }

  // Windows and epochs

  /** Replaces each window by what the function makes of it. The function is called when the window's turn comes. */
  foreachWindow<O extends AnyRow>(fn: (window: Dataset<R>) => Dataset<O>): DatasetPipeline<O> {
    if (typeof fn !== "function") throw new OptionError(`foreachWindow: ${describe(fn)} is not a function.`);
    return this.#then("foreachWindow", this.#calling("foreachWindow", fn));
  }

  /** The whole pipeline several times over, read anew each time: this many epochs, or without end. */
  repeat(epochs?: number): DatasetPipeline<R> {
    const recipe = repeated(this.#recipe, epochs);
    this.#use("repeat", never);
    return new DatasetPipeline<R>(recipe);
  }

  // All other transformations work as on datasets, window by window

  /** Takes some rows of each window: with a seed the same rows in every epoch, otherwise different ones. */
  override sample(options: SampleOptions): DatasetPipeline<R> {
    if (options.seed !== undefined) return super.sample(options);
    const drawn = this.#calling<R>("sample", (window) => window.sample(options));
    // Called once now, so that wrong options are refused now.
    drawn(anyWindow, { epoch: 0, window: 0 });
    return this.#then("sample", drawn);
  }

  // Consuming

  async take(rows: number, options: ValueOptions & CancelOptions = {}): Promise<R[]> {
    const wanted = wholeNumber("take", "the number of rows", rows);
    const values = onlyValues("take", options);
    return this.#consume("take", options, (run) => takeRows<R>(run, wanted, values));
  }

  async takeAll(options: ValueOptions & CancelOptions = {}): Promise<R[]> {
    this.#checkEnds("takeAll");
    const values = onlyValues("takeAll", options);
    return this.#consume("takeAll", options, (run) => takeRows<R>(run, null, values));
  }

  /** Prints the first rows as a table and returns its text. */
  async show(rows = 20, options: CancelOptions = {}): Promise<string> {
    checkKeys("show", options, cancelKeys);
    return this.#consume("show", options, (run) => showRows((count, values) => takeRows(run, count, values), rows));
  }

  async count(options: CancelOptions = {}): Promise<number> {
    checkKeys("count", options, cancelKeys);
    this.#checkEnds("count");
    return this.#consume("count", options, countAll);
  }

  /** Looks at the first window. The pipeline can still be used afterwards. */
  async schema(options: CancelOptions = {}): Promise<DatasetSchema> {
    checkKeys("schema", options, cancelKeys);
    const cancellation = new Cancellation("schema", options);
    return cancellation.over(async () => {
      for await (const window of epochWindows(this.#recipe, 0)) {
        // Awaited here, before the loop closes its iterator: otherwise a failure meanwhile would be an unhandled
        // rejection.
        return await schemaOf({
          engine: this.#recipe.engine,
          plan: window,
          going: () => {},
          ended: () => {},
          cancellation,
        });
      }
      throw new Error("a pass over the data has at least one window");
    });
  }

  /** Rows one by one. Leaving the loop early cancels the work and frees everything. */
  iterRows(options: ValueOptions & CancelOptions & { readonly prefetch?: number } = {}): AsyncIterableIterator<R> {
    checkKeys("iterRows", options, [...valueKeys, ...cancelKeys, "prefetch"]);
    const prefetch = positiveInteger("iterRows", "prefetch", options.prefetch ?? DEFAULT_PREFETCH);
    const values = checkedValues("iterRows", options);
    const cancellation = new Cancellation("iterRows", options);
    return new RowIterator<R>(blocksOfWindows(this.#use("iterRows", cancellation)), values, prefetch, cancellation);
  }

  /** Batches of a fixed size, which may cross the ends of windows and epochs. */
  iterBatches<Batch = ColumnsBatch<R>>(
    options?: IterBatchesOptions & { readonly batchFormat?: "columns" },
  ): AsyncGenerator<Batch>;
  iterBatches(options: IterBatchesOptions & { readonly batchFormat: "rows" }): AsyncGenerator<R[]>;
  iterBatches(options: IterBatchesOptions & { readonly batchFormat: "arrow" }): AsyncGenerator<Table>;
  iterBatches(options: IterBatchesOptions = {}): AsyncGenerator<unknown> {
    const checked = checkedBatches(options);
    const cancellation = new Cancellation("iterBatches", options);
    const run = { ...this.#use("iterBatches", cancellation), inOrder: checked.inOrder };
    return batchesOf(blocksOfWindows(run), checked, cancellation);
  }

  /** A dataset for each window, read when it is consumed. */
  iterWindows(): AsyncGenerator<Dataset<R>, void, undefined> {
    return this.#datasets(this.#use("iterWindows", never).recipe);
  }

  /** A pipeline for each epoch, read when it is consumed. */
  iterEpochs(): AsyncGenerator<DatasetPipeline<R>, void, undefined> {
    return this.#epochs(this.#use("iterEpochs", never));
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

  /** Writes one JSON object per line. */
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

  /** Figures of the windows that have run so far: sums, and the highest peaks. */
  stats(): DatasetStats {
    return datasetStats(this.#latestStats, this.#endedEarly);
  }

  /** What stands out in the figures of all windows so far, with figures and remedies. */
  diagnose(): Diagnosis {
    return diagnosis(this.#latestStats, this.#endedEarly);
  }

  /** Includes the window that runs now. */
  get #latestStats(): JobStats | null {
    return this.#going === null ? this.#stats : summed(this.#stats, this.#going);
  }

  async #write(format: FileFormat, directory: string | URL, options: WriteOptions): Promise<WriteSummary> {
    const operator = writerNames[format];
    this.#checkEnds(operator);
    return this.#consume(operator, options, (run) => writeWindows(run, format, directory, options));
  }

  #consume<T>(operator: string, options: CancelOptions, work: (run: PipelineRun) => Promise<T>): Promise<T> {
    const cancellation = new Cancellation(operator, options);
    const run = this.#use(operator, cancellation);
    return cancellation.over(() => work(run));
  }

  async *#datasets(recipe: Recipe): AsyncGenerator<Dataset<R>, void, undefined> {
    for await (const window of allWindows(recipe)) yield new Dataset<R>(recipe.engine, window, false);
  }

  async *#epochs({ recipe, ended }: PipelineRun): AsyncGenerator<DatasetPipeline<R>, void, undefined> {
    for (let epoch = 0; epoch < recipe.epochs; epoch++) {
      yield new DatasetPipeline<R>({ ...recipe, epochs: 1, before: recipe.before + epoch }, ended);
    }
  }

  protected override get kind(): "pipeline" {
    return "pipeline";
  }

  protected override derive<O extends AnyRow>(operator: string, plan: Plan): DatasetPipeline<O> {
    return this.#then(operator, overAnyWindow(plan));
  }

  /** A step that the function builds for each window. */
  #calling<O extends AnyRow>(operator: string, build: (window: Dataset<R>) => Dataset<O>): WindowStep {
    const { engine } = this.#recipe;
    return (window) => {
      const made = build(new Dataset<R>(engine, window, false));
      if (!(made instanceof Dataset)) {
        throw new OptionError(`${operator}: the function returned ${describe(made)}; it must return a dataset.`);
      }
      const inside = insideOf(made);
      if (inside.engine !== engine) throw new OptionError(`${operator}: the dataset belongs to another session.`);
      return inside.plan;
    };
  }

  #then<O extends AnyRow>(operator: string, step: WindowStep): DatasetPipeline<O> {
    return new DatasetPipeline<O>(withStep(this.#use(operator, never).recipe, step));
  }

  #use(operator: string, cancellation: Cancellation): PipelineRun {
    if (this.#usedBy !== null) {
      throw new OptionError(
        `${operator}: this pipeline was already used by ${this.#usedBy}; a pipeline can be used once. Continue with the result of ${this.#usedBy}, or make another pipeline from the dataset.`,
      );
    }
    this.#usedBy = operator;
    return {
      recipe: this.#recipe,
      cancellation,
      going: (stats) => {
        if (stats === null) this.#endedEarly = true;
        else this.#going = stats;
      },
      ended: (stats) => {
        this.#going = null;
        this.#stats = summed(this.#stats, stats);
        this.#told(stats);
      },
    };
  }

  #checkEnds(operator: string): void {
    if (!isEndless(this.#recipe)) return;
    throw new OptionError(
      `${operator}: this pipeline is endless. Give the number of epochs, repeat(3), or take a number of rows, take(1000).`,
    );
  }
}
