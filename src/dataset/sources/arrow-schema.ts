/** The schema of Arrow IPC files from their first message, which is all that is read of them. */
import { open } from "node:fs/promises";
import { readArrowBytes, type Schema, schemaEquals, unifySchemas } from "../../arrow/index.ts";
import { SourceError } from "../../errors/index.ts";
import type { SourceFile } from "./files.ts";

export interface ArrowSchemas {
  /** That all the files have, but for columns that have nothing but nulls in some; null where they have several. */
  readonly common: Schema | null;
  /** One a file, in their order. */
  readonly each: readonly Schema[];
}

export async function schemasOfFiles(files: readonly SourceFile[]): Promise<ArrowSchemas> {
  let common: Schema | null = null;
  const each: Schema[] = [];
  for (const [i, file] of files.entries()) {
    const own = await schemaOf(file);
    // The same object where it is the same schema: there may be very many files.
    const last = each.at(-1);
    each.push(last !== undefined && schemaEquals(last, own) ? last : own);
    common = i === 0 ? own : common === null || schemaEquals(common, own) ? common : unifySchemas(common, own);
  }
  return { common, each };
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
