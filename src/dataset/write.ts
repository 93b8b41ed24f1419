/** Writing a dataset as files: options checked, the directory looked at, then one job that makes them appear whole. */
import { access, constants, readdir, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { OptionError, UnknownColumnError, WriteError } from "../errors/index.ts";
import { columnsOf, type Plan } from "../plan/index.ts";
import type { Bytes, FileFormat, FileSink, JobId, JobStats } from "../protocol/index.ts";
import { nearest, parseSize } from "../units/index.ts";
import type { Run } from "./consume/blocks.ts";
import { checkKeys, oneOf, positiveInteger, text, textList } from "./options.ts";
import { resolved, runToEnd } from "./run.ts";
import { isHidden } from "./sources/glob.ts";

export interface WriteOptions<Name extends string = string, Compression extends string = string> {
  /** Folders `column=value`; these columns are not in the files. */
  readonly partitionBy?: Name | readonly Name[];
  readonly maxRowsPerFile?: number;
  /** About this size; a file may be larger by a batch of rows. */
  readonly targetFileSize?: number | string;
  readonly compression?: Compression;
  /** What to do with files that are there already. Default "error". */
  readonly mode?: "error" | "overwrite" | "append";
}

export interface WriteSummary {
  readonly files: readonly string[];
  readonly rows: number;
  readonly bytes: Bytes;
}

/** A worker takes about three times this while it writes; larger pieces are not written faster. */
const MOST_HELD: Bytes = 64 << 20;

const compressions: Readonly<Record<FileFormat, readonly string[]>> = {
  parquet: ["snappy", "zstd", "gzip", "lz4", "brotli", "uncompressed"],
  csv: ["gzip", "zstd", "none"],
  json: ["gzip", "zstd", "none"],
  arrow: ["none"],
};

const names: Readonly<Record<FileFormat, string>> = {
  parquet: "writeParquet",
  csv: "writeCsv",
  json: "writeJson",
  arrow: "writeArrow",
};

const keys = ["partitionBy", "maxRowsPerFile", "targetFileSize", "compression", "mode"] as const;

export async function writeFiles(
  run: Run,
  format: FileFormat,
  directory: string,
  options: WriteOptions,
): Promise<WriteSummary> {
  const operator = names[format];
  const settings = checkedSettings(operator, format, directory, options, run.engine.settings.targetMaxBlockSize);
  checkPartitions(operator, settings.partitionBy, await resolved(run.engine, run.plan));
  const found = await lookAt(operator, settings.directory);
  if (settings.mode === "error" && found.data !== null) {
    throw new WriteError(
      `${operator}: ${directory} has data already (${found.data}). Write to another directory, or use mode "overwrite" or "append".`,
      directory,
    );
  }
  const { stats, rows } = await runToEnd(run.engine, run.plan, (id) => ({
    ...settings,
    staging: stagingDirectory(settings.directory, found.exists, id),
  }));
  run.ended(stats);
  return summary(settings.directory, rows, stats);
}

function checkedSettings(
  operator: string,
  format: FileFormat,
  directory: string,
  options: WriteOptions,
  blockSize: Bytes,
): Omit<FileSink, "staging"> {
  checkKeys(operator, options, keys);
  const { partitionBy = [], maxRowsPerFile, targetFileSize, compression, mode = "error" } = options;
  const checkedCompression =
    compression === undefined ? null : oneOf(operator, "compression", compression, compressions[format]);
  return {
    kind: "files",
    format,
    directory: resolve(text(operator, "the directory", directory)),
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
    throw new OptionError(`${operator}: partitionBy names every column, so that none would be left for the files.`);
  }
}

/** Whether the directory is there, and a data file in it, if any. */
async function lookAt(operator: string, directory: string): Promise<{ exists: boolean; data: string | null }> {
  const info = await stat(directory).catch(() => null);
  if (info === null) {
    await checkParent(operator, directory);
    return { exists: false, data: null };
  }
  if (!info.isDirectory()) {
    throw new WriteError(
      `${operator}: ${directory} is a file. Give a directory: a dataset is written as several files.`,
      directory,
    );
  }
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const data = entries.find((entry) => {
    const path = join(entry.parentPath, entry.name);
    return (
      entry.isFile() &&
      !path
        .slice(directory.length + 1)
        .split("/")
        .some(isHidden)
    );
  });
  return { exists: true, data: data?.name ?? null };
}

/** Whether the directory can be made: said before anything runs. */
async function checkParent(operator: string, directory: string): Promise<void> {
  let parent = dirname(directory);
  let info = await stat(parent).catch(() => null);
  while (info === null && parent !== dirname(parent)) {
    parent = dirname(parent);
    info = await stat(parent).catch(() => null);
  }
  if (info?.isDirectory() !== true) {
    throw new WriteError(`${operator}: ${directory} cannot be made: ${parent} is no directory.`, directory);
  }
  await access(parent, constants.W_OK | constants.X_OK).catch(() => {
    throw new WriteError(`${operator}: ${directory} cannot be made: ${parent} cannot be written to.`, directory);
  });
}

/** On the data's own file system, so that files are moved and not copied; beside a directory that is not there yet. */
function stagingDirectory(directory: string, exists: boolean, id: JobId): string {
  return exists
    ? join(directory, `.spillway-${id}`)
    : join(dirname(directory), `.spillway-${basename(directory)}-${id}`);
}

function summary(directory: string, rows: number, stats: JobStats): WriteSummary {
  return {
    files: stats.files.map(({ path }) => join(directory, path)),
    rows,
    bytes: stats.files.reduce((sum, file) => sum + file.bytes, 0),
  };
}
