/** The sources. Each is a function of an engine; the session's methods and the package's own functions call them. */
import { blockBytes, fromArrowTable, inRow, type RecordBatch, RowBuilder, readBlock } from "../../arrow/index.ts";
import { OptionError } from "../../errors/index.ts";
import { column, project, type Source, scan } from "../../plan/index.ts";
import { Dataset } from "../dataset.ts";
import { declaredColumns } from "../declared-types.ts";
import type { Engine } from "../engine.ts";
import { checkKeys, describe, only, positiveInteger } from "../options.ts";
import type { AnyRow } from "../row-types.ts";
import { arrowFileSource } from "./arrow-files.ts";
import { binaryFormat } from "./binary.ts";
import { batchesSource } from "./blocks.ts";
import { type CsvOptions, csvFormat, csvOptionKeys, csvSettings } from "./csv.ts";
import { type Paths, pathTexts } from "./files.ts";
import { type JsonOptions, jsonFormat, jsonOptionKeys, jsonSettings } from "./json.ts";
import { LazyItems } from "./lazy-items.ts";
import { type CheckedReadOptions, checkReadOptions, type ReadOptions, readOptionKeys } from "./options.ts";
import { parquetSource } from "./parquet.ts";
import { rangeSource } from "./range.ts";
import { type SqlFormat, sqlFileSource } from "./sql-files.ts";
import { type TextOptions, textFormat, textOptionKeys, textSettings } from "./text.ts";

export type { CsvOptions } from "./csv.ts";
export type { Paths } from "./files.ts";
export type { JsonOptions } from "./json.ts";
export type { ReadOptions } from "./options.ts";
export type { TextOptions } from "./text.ts";

export interface InputOptions {
  /** Cut the rows into this many tasks. Default: by size and number of workers. */
  readonly overrideNumBlocks?: number;
}

export interface ItemsOptions extends InputOptions {
  /** Types of columns, in SQL's spelling; other types are inferred. */
  readonly schema?: Readonly<Record<string, string>>;
}

/**
 * Whole numbers in a column `id`: `range(10)` is 0 to 9, `range(5, 10)` is 5 to 9, `range(0, 10, 2)` is the even
 * numbers.
 */
export function range(engine: Engine, end: number, options?: InputOptions): Dataset<{ id: number }>;
export function range(
  engine: Engine,
  start: number,
  end: number,
  step?: number,
  options?: InputOptions,
): Dataset<{ id: number }>;
export function range(
  engine: Engine,
  ...args: readonly (number | InputOptions | undefined)[]
): Dataset<{ id: number }> {
  for (const [i, arg] of args.entries()) {
    if (typeof arg === "number" || (i > 0 && (arg === undefined || typeof arg === "object"))) continue;
    throw new OptionError(`range: ${describe(arg)} is not a whole number of at most 2^53 - 1.`);
  }
  const numbers = args.filter((arg) => typeof arg === "number");
  const last = args.at(-1);
  const options = typeof last === "object" ? last : {};
  checkKeys("range", options, ["overrideNumBlocks"]);
  const [first = 0, second, step = 1] = numbers;
  const [start, end] = second === undefined ? [0, first] : [first, second];
  for (const value of [start, end, step]) {
    if (!Number.isSafeInteger(value))
      throw new OptionError(`range: ${describe(value)} is not a whole number of at most 2^53 - 1.`);
  }
  if (step === 0) throw new OptionError("range: the step is 0.");
  return new Dataset(engine, scan(rangeSource(engine, { start, end, step }, override("range", options))));
}

function override(operator: string, { overrideNumBlocks }: InputOptions): number | null {
  return overrideNumBlocks === undefined ? null : positiveInteger(operator, "overrideNumBlocks", overrideNumBlocks);
}

/** The size of a batch is checked every this many rows. */
const CHECK_ROWS = 16;
/** Larger blocks gain nothing, and would not fit into a small store. */
const BYTES_PER_BATCH = 32 * 2 ** 20;

/**
 * Rows of the program, all with the same columns. Those of an array or another collection are copied now. An iterator
 * or an async iterable is read when its rows are needed, and only as far as needed.
 */
export function fromItems<R extends AnyRow>(
  engine: Engine,
  rows: Iterable<R> | AsyncIterable<R>,
  options: ItemsOptions = {},
): Dataset<R> {
  checkKeys("fromItems", options, ["overrideNumBlocks", "schema"]);
  if (rows === null || typeof rows !== "object" || !(Symbol.iterator in rows || Symbol.asyncIterator in rows)) {
    throw new OptionError(
      `fromItems: rows must be an iterable or an async iterable of objects, such as an array, not ${describe(rows)}.`,
    );
  }
  const declared = new Map(declaredColumns("fromItems", options.schema ?? {}).map(({ name, type }) => [name, type]));
  const most = Math.min(BYTES_PER_BATCH, engine.settings.targetMaxBlockSize);
  const numBlocks = override("fromItems", options);
  if (!(Symbol.iterator in rows) || "next" in rows) {
    const items = Symbol.iterator in rows ? rows[Symbol.iterator]() : rows[Symbol.asyncIterator]();
    return new Dataset<R>(engine, scan(new LazyItems(engine, items, declared, most, numBlocks).source()));
  }
  const builder = new RowBuilder(declared);
  const batches: RecordBatch[] = [];
  // What a builder finishes is valid until its next row, so each batch is copied as a block.
  const finish = () => batches.push(readBlock(blockBytes(builder.finish())));
  let count = 0;
  for (const row of rows) {
    try {
      builder.append(row);
    } catch (thrown) {
      throw inRow(thrown, count, "fromItems");
    }
    count++;
    if (builder.rows % CHECK_ROWS === 0 && builder.byteLength >= most) finish();
  }
  if (builder.rows > 0 || (batches.length === 0 && declared.size > 0)) finish();
  return new Dataset<R>(engine, scan(batchesSource(engine, "fromItems", batches, numBlocks)));
}

/** A table of `@uwdata/flechette` or `apache-arrow`, or Arrow IPC bytes. */
export function fromArrow<R extends AnyRow = AnyRow>(
  engine: Engine,
  table: unknown,
  options: InputOptions = {},
): Dataset<R> {
  checkKeys("fromArrow", options, ["overrideNumBlocks"]);
  const batches = fromArrowTable(table);
  return new Dataset<R>(engine, scan(batchesSource(engine, "fromArrow", batches, override("fromArrow", options))));
}

export function readParquet<R extends AnyRow = AnyRow>(
  engine: Engine,
  paths: Paths,
  options: ReadOptions = {},
): Dataset<R> {
  const checked = checkReadOptions("readParquet", options);
  return reading(engine, parquetSource(engine, pathTexts(paths, "readParquet"), checked), checked);
}

export function readCsv<R extends AnyRow = AnyRow>(
  engine: Engine,
  paths: Paths,
  options: ReadOptions & CsvOptions = {},
): Dataset<R> {
  const checked = checkReadOptions("readCsv", options, [...readOptionKeys, ...csvOptionKeys]);
  const settings = csvSettings(only(options, csvOptionKeys));
  return readingSql(engine, paths, csvFormat(engine, settings, checked), checked);
}

/** One JSON value a line, or one array; the format is detected for each file. */
export function readJson<R extends AnyRow = AnyRow>(
  engine: Engine,
  paths: Paths,
  options: ReadOptions & JsonOptions = {},
): Dataset<R> {
  const checked = checkReadOptions("readJson", options, [...readOptionKeys, ...jsonOptionKeys]);
  return readingSql(engine, paths, jsonFormat(engine, jsonSettings(only(options, jsonOptionKeys)), checked), checked);
}

/** One row a line, in the column `text`. */
export function readText<R extends AnyRow = { text: string }>(
  engine: Engine,
  paths: Paths,
  options: Omit<ReadOptions, "schema" | "unionByName"> & TextOptions = {},
): Dataset<R> {
  const checked = checkReadOptions("readText", options, [
    "columns",
    "overrideNumBlocks",
    "includePaths",
    ...textOptionKeys,
  ]);
  return readingSql(engine, paths, textFormat(textSettings(only(options, textOptionKeys))), checked);
}

/** One row a file: `path` and `bytes`. */
export function readBinary<R extends AnyRow = { path: string; bytes: Uint8Array }>(
  engine: Engine,
  paths: Paths,
  options: Omit<ReadOptions, "schema" | "unionByName" | "includePaths"> = {},
): Dataset<R> {
  return readingSql(
    engine,
    paths,
    binaryFormat,
    checkReadOptions("readBinary", options, ["columns", "overrideNumBlocks"]),
  );
}

/** Arrow IPC files, or files that contain Arrow IPC streams. */
export function readArrow<R extends AnyRow = AnyRow>(
  engine: Engine,
  paths: Paths,
  options: ReadOptions = {},
): Dataset<R> {
  const checked = checkReadOptions("readArrow", options);
  return reading(engine, arrowFileSource(engine, pathTexts(paths, "readArrow"), checked), checked);
}

function readingSql<R extends AnyRow>(
  engine: Engine,
  paths: Paths,
  format: SqlFormat,
  options: CheckedReadOptions,
): Dataset<R> {
  return reading(engine, sqlFileSource(engine, pathTexts(paths, format.operator), format, options), options);
}

/** Reads a source. `columns` becomes a select right above the scan; the rules move it into the scan. */
function reading<R extends AnyRow>(
  engine: Engine,
  source: Source,
  { columns, includePaths }: CheckedReadOptions,
): Dataset<R> {
  if (columns === null) return new Dataset<R>(engine, scan(source));
  const names = includePaths && !columns.includes("path") ? [...columns, "path"] : columns;
  const items = names.map((name) => ({ name, expression: column(name) }));
  return new Dataset<R>(engine, project(scan(source), "select", items, source.name));
}
