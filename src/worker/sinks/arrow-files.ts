/** Writes Arrow IPC files, which the kernel cannot write. */
import { closeSync, openSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { arrowFileWriter, BlockBuilder } from "../../arrow/index.ts";
import type { Connection } from "../../kernel/index.ts";
import type { FileSink, WrittenFile } from "../../protocol/index.ts";
import { cannotWrite, makeStaging } from "./staging.ts";

/** Size of a record batch: large enough to scan well, small enough to read one at a time. */
const BATCH_ROWS = 65_536;

/** `path` is relative to the staging directory. */
export function writeArrowFile(connection: Connection, select: string, sink: FileSink, path: string): WrittenFile {
  const target = join(sink.staging, path);
  makeStaging(sink, dirname(path));
  const fd = opened(sink, target);
  let bytes = 0;
  let rows = 0;
  const write = (piece: Uint8Array) => {
    try {
      for (let at = 0; at < piece.length; ) at += writeSync(fd, piece, at);
    } catch (error) {
      throw cannotWrite(sink, error);
    }
    bytes += piece.length;
  };
  try {
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
    }
  } finally {
    closeSync(fd);
  }
  return { path, rows, bytes };
}

function opened(sink: FileSink, target: string): number {
  try {
    return openSync(target, "w");
  } catch (error) {
    throw cannotWrite(sink, error);
  }
}
