/** One SQL text to one file, or to one file a partition, under the staging directory: by the kernel's COPY, or by us. */
import { mkdirSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { type Row, toRows } from "../../arrow/index.ts";
import { type Connection, quoteIdentifier, quoteLiteral } from "../../kernel/index.ts";
import type { FileSink, WrittenFile } from "../../protocol/index.ts";
import { writeArrowFile } from "./arrow-files.ts";
import { partitionsOf } from "./partitions.ts";

const EXTENSION = { parquet: "parquet", csv: "csv", json: "json", arrow: "arrow" } as const;
/** What a compressed text file is called. */
const SUFFIX: Readonly<Record<string, string>> = { gzip: ".gz", zstd: ".zst" };

export interface Copied {
  readonly rows: number;
  readonly files: readonly WrittenFile[];
}

/** Whether the kernel can write what the sink asks for straight from a query. */
export function kernelWrites(sink: FileSink): boolean {
  if (sink.format === "arrow" || sink.maxRowsPerFile !== null || sink.targetFileSize !== null) return false;
  return sink.partitionBy.length === 0 || sink.format !== "json";
}

/**
 * A query, by the kernel alone. "async" leaves the event loop free, and is for SQL that reads files; over a table that
 * lies in JavaScript's hands the kernel calls back on this thread, which is several times cheaper when it does not have
 * to be called over.
 */
export async function copyQuery(
  connection: Connection,
  select: string,
  sink: FileSink,
  name: string,
  mode: "sync" | "async",
): Promise<Copied> {
  mkdirSync(sink.staging, { recursive: true });
  const sql = copySql(select, sink, name, sink.partitionBy);
  const stream = mode === "async" ? await connection.queryAsync(sql) : connection.query(sql);
  const answers: Row[] = [];
  try {
    for (let batch = stream.next(); batch !== null; batch = stream.next()) answers.push(...toRows(batch, {}));
  } finally {
    stream.close();
  }
  return copied(sink, answers);
}

/** The rows of a table in memory. */
export function writeTable(connection: Connection, table: string, sink: FileSink, name: string): Copied {
  mkdirSync(sink.staging, { recursive: true });
  const byKernel = sink.format !== "arrow" && (sink.partitionBy.length === 0 || sink.format !== "json");
  if (byKernel) return copied(sink, connection.all(copySql(`FROM ${table}`, sink, name, sink.partitionBy)));
  const parts =
    sink.partitionBy.length === 0
      ? [{ directory: "", select: `FROM ${table}` }]
      : partitionsOf(connection, table, sink.partitionBy);
  const files = parts.flatMap(({ directory, select }) => {
    const path = join(directory, fileName(sink, name));
    if (sink.format === "arrow") return [writeArrowFile(connection, select, sink.staging, path)];
    mkdirSync(dirname(join(sink.staging, path)), { recursive: true });
    return copied(sink, connection.all(copySql(select, sink, join(directory, name), []))).files;
  });
  return { rows: files.reduce((sum, file) => sum + (file.rows ?? 0), 0), files };
}

function copySql(select: string, sink: FileSink, name: string, partitionBy: readonly string[]): string {
  const options = [`FORMAT ${sink.format}`, sink.format === "parquet" ? "RETURN_STATS true" : "RETURN_FILES true"];
  if (sink.compression !== null) options.push(`COMPRESSION ${quoteLiteral(sink.compression)}`);
  if (sink.format === "csv") options.push("HEADER true");
  let target = join(sink.staging, fileName(sink, name));
  if (partitionBy.length > 0) {
    target = sink.staging;
    options.push(`PARTITION_BY (${partitionBy.map(quoteIdentifier).join(", ")})`);
    options.push(`FILENAME_PATTERN ${quoteLiteral(`${name}-{i}`)}`, "OVERWRITE_OR_IGNORE true");
  }
  return `COPY (${select}) TO ${quoteLiteral(target)} (${options.join(", ")})`;
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

/** The other formats: one row with the count and the list of files. */
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
