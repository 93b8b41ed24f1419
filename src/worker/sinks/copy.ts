/**
 * Writes the result of one SQL text to one file, or to one file a partition, in the staging directory: by the kernel's
 * COPY, or by our own writer.
 */
import { statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { MANY_COLUMNS, quoteIdentifier, quoteText, type Row, toRows } from "../../arrow/index.ts";
import type { Connection, KernelStream } from "../../kernel/index.ts";
import type { Bytes, FileSink, KernelLease, WrittenFile } from "../../protocol/index.ts";
import { writeArrowFile } from "./arrow-files.ts";
import { jsonSelect } from "./json-values.ts";
import { negativeInterval } from "./negative-intervals.ts";
import { partitionsOf, withFolderNames } from "./partitions.ts";
import { type SizedLists, sizedLists } from "./sized-lists.ts";
import { inWritersWords, makeStaging } from "./staging.ts";

const EXTENSION = { parquet: "parquet", csv: "csv", json: "json", arrow: "arrow" } as const;
/** Suffixes of compressed text files. */
const SUFFIX: Readonly<Record<string, string>> = { gzip: ".gz", zstd: ".zst" };

interface Copied {
  readonly rows: number;
  readonly files: readonly WrittenFile[];
}

/** The kernel's default, and the number of rows that it writes at a time. */
export const LARGEST_ROW_GROUP = 122_880;
export const SMALLEST_ROW_GROUP = 2_048;
/**
 * Memory of a kernel for each row of a row group: a kilobyte of text is held eight times (rows, dictionary, pages,
 * growing buffers).
 */
const BYTES_A_ROW: Bytes = 8_192;

/**
 * Rows of very many columns are kept together up to this size, at eight bytes a value: 2,000 rows of 5,000 columns.
 * With 800 rows the file is 1.7 times as large, and takes more memory to write.
 */
const WIDE_ROW_GROUP: Bytes = 80 << 20;

/** How many rows of so many columns a kernel keeps together in a Parquet file: a row of 5,000 columns takes 40 kB. */
export function wideRowGroup(columns: number): number {
  return Math.ceil(WIDE_ROW_GROUP / (8 * columns));
}

/**
 * How many rows a kernel with this lease can keep together in a Parquet file, even at a kilobyte a row. `columns`: if
 * the rows are wide.
 */
export function rowGroupFor({ memory, threads }: KernelLease, columns = 0): number {
  if (columns > MANY_COLUMNS) return wideRowGroup(columns);
  if (memory === null) return LARGEST_ROW_GROUP;
  const rows = memory / threads / BYTES_A_ROW;
  const fits = Math.floor(rows / SMALLEST_ROW_GROUP) * SMALLEST_ROW_GROUP;
  return Math.min(LARGEST_ROW_GROUP, Math.max(SMALLEST_ROW_GROUP, fits));
}

/** Whether the kernel can write what the sink asks for directly from a query. */
export function kernelWrites(sink: FileSink): boolean {
  if (sink.format === "arrow" || sink.maxRowsPerFile !== null || sink.targetFileSize !== null) return false;
  return sink.partitionBy.length === 0 || (sink.format !== "json" && !isForAll(sink.partitionBy));
}

/** Names that the kernel takes for all columns, even if a column has that name. */
function isForAll(partitionBy: readonly string[]): boolean {
  return partitionBy.includes("*");
}

/**
 * Writes a query by the kernel alone. "async" leaves the event loop free, and suits SQL that reads files. For a table
 * in JavaScript's memory the kernel calls back on this thread, which is several times cheaper in a synchronous call.
 */
export async function copyQuery(
  connection: Connection,
  select: string,
  sink: FileSink,
  name: string,
  mode: "sync" | "async",
  rowGroup: number,
  /** Called with the file that grows, if there is one. */
  writes: (path: string) => void,
): Promise<Copied> {
  makeStaging(sink);
  if (sink.partitionBy.length === 0) writes(join(sink.staging, fileName(sink, name)));
  const sql = kernelCopy(connection, select, sink, name, rowGroup);
  try {
    const stream = mode === "async" ? await connection.queryAsync(sql) : connection.query(sql);
    return copied(sink, answersOf(stream));
  } catch (error) {
    throw negativeInterval(error, connection, select, sink) ?? inWritersWords(error, sink);
  }
}

function answersOf(stream: KernelStream): Row[] {
  const answers: Row[] = [];
  try {
    for (let batch = stream.next(); batch !== null; batch = stream.next()) answers.push(...toRows(batch, {}));
  } finally {
    stream.close();
  }
  return answers;
}

/** The same synchronously. `sql` copies the rows of `select`. */
function copyNow(connection: Connection, sql: string, select: string, sink: FileSink): Copied {
  try {
    return copied(sink, connection.all(sql));
  } catch (error) {
    throw negativeInterval(error, connection, select, sink) ?? inWritersWords(error, sink);
  }
}

/** Writes the rows of a table in memory. `rowGroup`: how many rows a Parquet file keeps together. */
export function writeTable(
  connection: Connection,
  table: string,
  sink: FileSink,
  name: string,
  rowGroup: number,
): Copied {
  makeStaging(sink);
  const isPartitioned = sink.partitionBy.length > 0;
  const inPieces =
    isPartitioned && (sink.format === "json" || sink.maxRowsPerFile !== null || isForAll(sink.partitionBy));
  if (sink.format !== "arrow" && !inPieces) {
    const all = `FROM ${table}`;
    return copyNow(connection, kernelCopy(connection, all, sink, name, rowGroup), all, sink);
  }
  const parts = isPartitioned
    ? partitionsOf(connection, table, sink.partitionBy, sink.maxRowsPerFile)
    : [{ directory: "", piece: 0, select: `FROM ${table}` }];
  const files = parts.flatMap(({ directory, piece, select }) => {
    const place = join(directory, piece === 0 ? name : `${name}-${piece}`);
    const path = fileName(sink, place);
    if (sink.format === "arrow") return [writeArrowFile(connection, select, sink, path)];
    makeStaging(sink, dirname(path));
    const sql = copySql(valuesFor(connection, select, sink), sink, place, [], rowGroup);
    return copyNow(connection, sql, select, sink).files;
  });
  return { rows: files.reduce((sum, file) => sum + (file.rows ?? 0), 0), files };
}

function kernelCopy(connection: Connection, select: string, sink: FileSink, name: string, rowGroup: number): string {
  const values = valuesFor(connection, select, sink);
  const named = { ...values, select: withFolderNames(connection, values.select, sink.partitionBy) };
  return copySql(named, sink, name, sink.partitionBy, rowGroup);
}

/** The values in a form that the format can hold. */
function valuesFor(connection: Connection, select: string, sink: FileSink): SizedLists {
  if (sink.format === "parquet") return sizedLists(connection, select, sink.partitionBy);
  return { select: sink.format === "json" ? jsonSelect(connection, select) : select, entry: null };
}

function copySql(
  { select, entry }: SizedLists,
  sink: FileSink,
  name: string,
  partitionBy: readonly string[],
  rowGroup: number,
): string {
  const options = [`FORMAT ${sink.format}`, sink.format === "parquet" ? "RETURN_STATS true" : "RETURN_FILES true"];
  if (sink.compression !== null) options.push(`COMPRESSION ${quoteText(sink.compression)}`);
  if (sink.format === "csv") options.push("HEADER true");
  if (sink.format === "parquet") options.push(`ROW_GROUP_SIZE ${rowGroup}`);
  if (entry !== null) options.push(entry);
  let target = join(sink.staging, fileName(sink, name));
  if (partitionBy.length === 0) {
    // The kernel's temporary name cuts a path at a backslash. It is not needed, because files in the staging directory
    // are not visible yet.
    options.push("USE_TMP_FILE false");
  } else {
    target = sink.staging;
    options.push(`PARTITION_BY (${partitionBy.map(quoteIdentifier).join(", ")})`);
    options.push(`FILENAME_PATTERN ${quoteText(`${name}-{i}`)}`, "OVERWRITE_OR_IGNORE true");
  }
  return `COPY (${select}) TO ${quoteText(target)} (${options.join(", ")})`;
}

function fileName(sink: FileSink, name: string): string {
  const suffix = sink.format === "parquet" || sink.compression === null ? "" : (SUFFIX[sink.compression] ?? "");
  return `${name}.${EXTENSION[sink.format]}${suffix}`;
}

function copied(sink: FileSink, answers: readonly Row[]): Copied {
  return sink.format === "parquet" ? fromStatistics(sink, answers) : fromFileList(sink, answers);
}

/** Parquet: one row a file, with its figures. */
function fromStatistics(sink: FileSink, answers: readonly Row[]): Copied {
  const files = answers.map((row) => ({
    path: relative(sink.staging, String(row.filename)),
    rows: Number(row.count),
    bytes: Number(row.file_size_bytes),
  }));
  return { rows: files.reduce((sum, file) => sum + file.rows, 0), files };
}

/** Other formats: one row with the count and the list of files. */
function fromFileList(sink: FileSink, answers: readonly Row[]): Copied {
  const [answer] = answers;
  const rows = Number(answer?.Count ?? 0);
  const paths = Array.isArray(answer?.Files) ? answer.Files.map(String) : [];
  const files = paths.map((path) => ({
    path: relative(sink.staging, path),
    rows: paths.length === 1 ? rows : null,
    bytes: statSync(path).size,
  }));
  return { rows, files };
}
