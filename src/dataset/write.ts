/**
 * Writes a dataset as files: checks the options, looks at the directory, and runs one job, whose files appear all at
 * once.
 */
import { join } from "node:path";
import { OptionError, UnknownColumnError } from "../errors/index.ts";
import { stagingName } from "../files/index.ts";
import { columnsOf, type Plan } from "../plan/index.ts";
import type { Bytes, FileFormat, FileSink, JobId, WrittenFile } from "../protocol/index.ts";
import { nearest, parseSize } from "../units/index.ts";
import type { Run } from "./consume/blocks.ts";
import { type CancelOptions, cancelKeys } from "./consume/cancellation.ts";
import { checkKeys, oneOf, positiveInteger, text, textList } from "./options.ts";
import { resolved, runToEnd } from "./run.ts";
import { findPlace, localDirectory } from "./write-place.ts";

export interface WriteOptions<Name extends string = string, Compression extends string = string> extends CancelOptions {
  /** Folders `column=value`; these columns are left out of the files. */
  readonly partitionBy?: Name | readonly Name[];
  readonly maxRowsPerFile?: number;
  /** About this size. A file may be larger by one batch of rows. */
  readonly targetFileSize?: number | string;
  readonly compression?: Compression;
  /** What to do if files exist already. Default "error". */
  readonly mode?: "error" | "overwrite" | "append";
}

export interface WriteSummary {
  readonly files: readonly string[];
  readonly rows: number;
  readonly bytes: Bytes;
}

/** A worker takes about three times this while it writes. Larger pieces are not written faster. */
const MOST_HELD: Bytes = 64 << 20;

const compressions: Readonly<Record<FileFormat, readonly string[]>> = {
  parquet: ["snappy", "zstd", "gzip", "lz4", "brotli", "uncompressed"],
  csv: ["gzip", "zstd", "none"],
  json: ["gzip", "zstd", "none"],
  arrow: ["none"],
};

export const writerNames: Readonly<Record<FileFormat, string>> = {
  parquet: "writeParquet",
  csv: "writeCsv",
  json: "writeJson",
  arrow: "writeArrow",
};

const keys = ["partitionBy", "maxRowsPerFile", "targetFileSize", "compression", "mode", ...cancelKeys] as const;

export async function writeFiles(
  run: Run,
  format: FileFormat,
  directory: string | URL,
  options: WriteOptions,
): Promise<WriteSummary> {
  const operator = writerNames[format];
  const settings = checkedSettings(operator, format, options, run.engine.settings.targetMaxBlockSize);
  const shown = localDirectory(operator, directory);
  checkPartitions(operator, settings.partitionBy, await resolved(run.engine, run.plan, run.cancellation));
  const place = await findPlace(operator, shown, settings.mode, format);
  const sinkFor = (id: JobId): FileSink => ({
    ...settings,
    directory: place.directory,
    staging: join(place.stagingIn, stagingName(id)),
  });
  const { stats, rows, files } = await runToEnd(run.engine, run.plan, sinkFor, run);
  run.ended(stats);
  return summary(shown, rows, files);
}

function checkedSettings(
  operator: string,
  format: FileFormat,
  options: WriteOptions,
  blockSize: Bytes,
): Omit<FileSink, "directory" | "staging"> {
  checkKeys(operator, options, keys);
  const { partitionBy = [], maxRowsPerFile, targetFileSize, compression, mode = "error" } = options;
  const checkedCompression =
    compression === undefined ? null : oneOf(operator, "compression", compression, compressions[format]);
  return {
    kind: "files",
    format,
    mode: oneOf(operator, "mode", mode, ["error", "overwrite", "append"]),
    partitionBy: partitionColumns(operator, partitionBy),
    maxRowsPerFile: maxRowsPerFile === undefined ? null : positiveInteger(operator, "maxRowsPerFile", maxRowsPerFile),
    targetFileSize: targetFileSize === undefined ? null : checkedFileSize(operator, targetFileSize),
    compression: checkedCompression === "none" ? null : checkedCompression,
    heldBytes: Math.min(MOST_HELD, Math.ceil(blockSize / 2)),
  };
}

function checkedFileSize(operator: string, size: number | string): Bytes {
  const bytes = parseSize(size, { name: `${operator}: targetFileSize` });
  if (bytes < 1) throw new OptionError(`${operator}: targetFileSize is ${JSON.stringify(size)}; it must be above 0.`);
  return bytes;
}

function partitionColumns(operator: string, columns: string | readonly string[]): readonly string[] {
  if (typeof columns === "string") return [text(operator, "partitionBy", columns)];
  return columns.length === 0 ? [] : textList(operator, "partitionBy", columns);
}

function checkPartitions(operator: string, columns: readonly string[], plan: Plan): void {
  const available = columnsOf(plan);
  if (available === null || columns.length === 0) return;
  for (const name of columns) {
    if (!available.includes(name)) {
      throw new UnknownColumnError(name, available, `${operator}: partitionBy`, nearest(name, available));
    }
  }
  if (columns.length === available.length) {
    throw new OptionError(`${operator}: partitionBy names every column, so no column would be left for the files.`);
  }
}

function summary(directory: string, rows: number, files: readonly WrittenFile[]): WriteSummary {
  return {
    files: files.map(({ path }) => join(directory, path)),
    rows,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
  };
}
