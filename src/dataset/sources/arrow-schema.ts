/**
 * The schema of Arrow IPC: from the footer of a file, or from the first message of a stream. Nothing else is read here.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  FILE_TAIL,
  footerLength,
  isArrowFile,
  readFooterSchema,
  readSchemaMessage,
  type Schema,
  schemaEquals,
  unifySchemas,
} from "../../arrow/index.ts";
import { SourceError } from "../../errors/index.ts";
import { messageOf } from "../../realm/index.ts";
import type { SourceFile } from "./files.ts";

interface ArrowSchemas {
  /**
   * The schema of all files, if they differ at most in columns that contain only nulls in some; null if they differ
   * more.
   */
  readonly common: Schema | null;
  /** One for each file, in order. */
  readonly each: readonly Schema[];
}

/**
 * The event loop gets a turn after this many files. The reads are small: a promise for each would cost several times as
 * much.
 */
const FILES_A_TURN = 64;
/** Footers also contain the places of batches, so every footer may be different: only this many are kept. */
const MOST_KNOWN = 64;

export async function schemasOfFiles(files: readonly SourceFile[]): Promise<ArrowSchemas> {
  let common: Schema | null = null;
  const each: Schema[] = [];
  const known = new Map<string, Schema>();
  for (const [i, file] of files.entries()) {
    if (i % FILES_A_TURN === FILES_A_TURN - 1) await nextTurn();
    const own = schemaOf(file, known);
    // Files with equal schemas share one object, because there may be very many files.
    const last = each.at(-1);
    each.push(last !== undefined && (last === own || schemaEquals(last, own)) ? last : own);
    if (own === last) continue;
    common = i === 0 ? own : common === null || schemaEquals(common, own) ? common : unifySchemas(common, own);
  }
  return { common, each };
}

/** `known`: schemas by the bytes that describe them. */
function schemaOf(file: SourceFile, known: Map<string, Schema>): Schema {
  try {
    const fd = openSync(file.path, "r");
    try {
      const head = bytesAt(fd, 0, 8);
      return isArrowFile(head) ? schemaInFooter(fd, known) : schemaInMessage(fd, file, head);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw unreadable(file, error);
  }
}

function schemaInFooter(fd: number, known: Map<string, Schema>): Schema {
  const { size } = fstatSync(fd);
  if (size < FILE_TAIL) throw new Error("it is cut short");
  const length = footerLength(bytesAt(fd, size - FILE_TAIL, FILE_TAIL), size);
  const footer = bytesAt(fd, size - FILE_TAIL - length, length);
  const key = Buffer.from(footer.buffer).toString("latin1");
  const schema = known.get(key) ?? readFooterSchema(footer);
  if (known.size === MOST_KNOWN) known.clear();
  known.set(key, schema);
  return schema;
}

function schemaInMessage(fd: number, file: SourceFile, head: Uint8Array): Schema {
  const view = new DataView(head.buffer);
  if (view.getUint32(0, true) !== 0xffffffff) throw new Error("it is not an Arrow IPC file or stream");
  const length = view.getInt32(4, true);
  if (length <= 0 || length > file.bytes) throw new Error("its schema is damaged, or it is not an Arrow file");
  return readSchemaMessage(bytesAt(fd, 0, head.length + length));
}

function bytesAt(fd: number, at: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  if (readSync(fd, bytes, 0, length, at) < length) throw new Error("it is too short to be an Arrow file");
  return bytes;
}

function unreadable(file: SourceFile, error: unknown): SourceError {
  return new SourceError(`readArrow: ${file.shown} cannot be read: ${messageOf(error)}`, file.path);
}
