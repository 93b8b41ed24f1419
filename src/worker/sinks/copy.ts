/** The kernel's COPY: one SQL text to one file, or to one file a partition, under the staging directory. */
import { mkdirSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { type Row, toRows } from "../../arrow/index.ts";
import { type Connection, quoteIdentifier, quoteLiteral } from "../../kernel/index.ts";
import type { FileSink, WrittenFile } from "../../protocol/index.ts";

export const EXTENSION = { parquet: "parquet", csv: "csv", json: "json", arrow: "arrow" } as const;

export interface Copied {
  readonly rows: number;
  readonly files: readonly WrittenFile[];
}

/**
 * "async" leaves the event loop free, and is for SQL that reads files; over a table that lies in JavaScript's hands
 * the kernel calls back on this thread, which is several times cheaper when it does not have to be called over.
 */
export async function copyToFiles(
  connection: Connection,
  select: string,
  sink: FileSink,
  name: string,
  mode: "sync" | "async",
): Promise<Copied> {
  mkdirSync(sink.staging, { recursive: true });
  const target = sink.partitionBy.length > 0 ? sink.staging : join(sink.staging, fileName(sink, name));
  const sql = `COPY (${select}) TO ${quoteLiteral(target)} (${copyOptions(sink, name).join(", ")})`;
  const stream = mode === "async" ? await connection.queryAsync(sql) : connection.query(sql);
  const answers: Row[] = [];
  try {
    for (let batch = stream.next(); batch !== null; batch = stream.next()) answers.push(...toRows(batch, {}));
  } finally {
    stream.close();
  }
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

function fileName(sink: FileSink, name: string): string {
  return `${name}.${EXTENSION[sink.format]}${sink.format !== "parquet" && sink.compression === "gzip" ? ".gz" : ""}`;
}

function copyOptions(sink: FileSink, name: string): string[] {
  const options = [`FORMAT ${sink.format}`, sink.format === "parquet" ? "RETURN_STATS true" : "RETURN_FILES true"];
  if (sink.compression !== null) options.push(`COMPRESSION ${quoteLiteral(sink.compression)}`);
  if (sink.format === "csv") options.push("HEADER true");
  if (sink.partitionBy.length > 0) {
    options.push(`PARTITION_BY (${sink.partitionBy.map(quoteIdentifier).join(", ")})`);
    options.push(`FILENAME_PATTERN ${quoteLiteral(`${name}-{i}`)}`, "OVERWRITE_OR_IGNORE true");
  }
  return options;
}
