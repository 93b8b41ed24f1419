/** Arrow IPC files from a table of the kernel's: one, or one a partition in directories `key=value`. */
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { arrowFileWriter, BlockBuilder } from "../../arrow/index.ts";
import { type Connection, quoteIdentifier, quoteLiteral } from "../../kernel/index.ts";
import type { FileSink } from "../../protocol/index.ts";
import { type Copied, EXTENSION } from "./copy.ts";

/** Record batches of this size: large enough to scan well, small enough to read one at a time. */
const BATCH_ROWS = 65_536;

export function writeArrowFiles(connection: Connection, table: string, sink: FileSink, name: string): Copied {
  if (sink.partitionBy.length === 0) {
    const file = writeOne(connection, `FROM ${table}`, sink.staging, `${name}.${EXTENSION.arrow}`);
    return { rows: file.rows, files: [file] };
  }
  const keys = sink.partitionBy.map(quoteIdentifier);
  const texts = keys.map((key, i) => `${key}::VARCHAR AS ${quoteIdentifier(`p${i}`)}`);
  const parts = connection.all(`SELECT DISTINCT ${texts.join(", ")} FROM ${table} ORDER BY ALL`);
  const files = parts.map((part) => {
    const values = keys.map((_, i) => (part[`p${i}`] === null ? null : String(part[`p${i}`])));
    const where = keys.map((key, i) => {
      const value = values[i] ?? null;
      return value === null ? `${key} IS NULL` : `${key}::VARCHAR = ${quoteLiteral(value)}`;
    });
    const directory = sink.partitionBy.map((key, i) => {
      const value = values[i] ?? null;
      return `${encodeURIComponent(key)}=${value === null ? "__HIVE_DEFAULT_PARTITION__" : encodeURIComponent(value)}`;
    });
    const select = `SELECT * EXCLUDE (${keys.join(", ")}) FROM ${table} WHERE ${where.join(" AND ")}`;
    return writeOne(connection, select, sink.staging, join(...directory, `${name}.${EXTENSION.arrow}`));
  });
  return { rows: files.reduce((sum, file) => sum + file.rows, 0), files };
}

function writeOne(connection: Connection, select: string, staging: string, path: string) {
  mkdirSync(join(staging, path, ".."), { recursive: true });
  const fd = openSync(join(staging, path), "w");
  let bytes = 0;
  let rows = 0;
  const write = (piece: Uint8Array) => {
    for (let at = 0; at < piece.length; ) at += writeSync(fd, piece, at);
    bytes += piece.length;
  };
  const stream = connection.query(select);
  try {
    const writer = arrowFileWriter(stream.schema);
    const held = new BlockBuilder();
    const flush = () => {
      const batch = held.finish();
      if (batch === null || batch.length === 0) return;
      rows += batch.length;
      write(writer.batch(batch));
    };
    write(writer.header());
    for (let chunk = stream.next(); chunk !== null; chunk = stream.next()) {
      held.append(chunk);
      if (held.rows >= BATCH_ROWS) flush();
    }
    flush();
    write(writer.footer());
  } finally {
    stream.close();
    closeSync(fd);
  }
  return { path, rows, bytes };
}
