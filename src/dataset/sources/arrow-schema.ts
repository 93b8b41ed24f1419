/** The schema of Arrow IPC files from their first message, which is all that is read of them. */
import { open } from "node:fs/promises";
import { readArrowBytes, type Schema, schemaEquals, unifySchemas } from "../../arrow/index.ts";
import { SourceError } from "../../errors/index.ts";
import type { SourceFile } from "./files.ts";

/** Of the first file; the others must have the same, but for columns that have nothing but nulls in some. */
export async function schemaOfFiles(files: readonly SourceFile[]): Promise<Schema> {
  const [first, ...others] = files;
  if (first === undefined) throw new SourceError("readArrow: there are no files.", "");
  let schema = await schemaOf(first);
  for (const other of others) {
    const found = await schemaOf(other);
    if (schemaEquals(schema, found)) continue;
    const both = unifySchemas(schema, found);
    if (both === null) {
      throw new SourceError(
        `readArrow: ${other.shown} has another schema than ${first.shown}. Read them apart and unite them.`,
        other.path,
      );
    }
    schema = both;
  }
  return schema;
}

const END_OF_STREAM = new Uint8Array([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);

/** The schema message with an end after it is a stream of no batches. */
async function schemaOf(file: SourceFile): Promise<Schema> {
  const handle = await open(file.path, "r").catch((error: unknown) => {
    throw unreadable(file, error);
  });
  try {
    const head = new Uint8Array(16);
    const { bytesRead } = await handle.read(head, 0, 16, 0);
    const isFile = Buffer.from(head.buffer, 0, 6).toString("latin1") === "ARROW1";
    const begin = isFile ? 8 : 0;
    const view = new DataView(head.buffer);
    if (bytesRead < begin + 8) throw new Error("it is too short to be an Arrow file");
    const continued = view.getUint32(begin, true) === 0xffffffff;
    if (!continued && !isFile) throw new Error("it is no Arrow IPC file or stream");
    const length = view.getInt32(begin + (continued ? 4 : 0), true);
    // apache-arrow writes the schema of a file without batches into the footer alone.
    if (isFile && length === 0) return readArrowBytes(await handle.readFile()).schema;
    if (length <= 0 || length > file.bytes) throw new Error("its schema is damaged, or it is no Arrow file");
    const message = new Uint8Array((continued ? 8 : 4) + length);
    await handle.read(message, 0, message.length, begin);
    const stream = new Uint8Array(message.length + END_OF_STREAM.length);
    stream.set(message);
    stream.set(END_OF_STREAM, message.length);
    return readArrowBytes(stream).schema;
  } catch (error) {
    throw unreadable(file, error);
  } finally {
    await handle.close();
  }
}

function unreadable(file: SourceFile, error: unknown): SourceError {
  return new SourceError(
    `readArrow: ${file.shown} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    file.path,
  );
}
