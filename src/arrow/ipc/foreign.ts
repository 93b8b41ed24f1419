/**
 * Reads Arrow IPC of other writers, streams and files: many batches, dictionaries with deltas and replacements,
 * compressed buffers, string views. The caller knows the path and adds it to errors.
 */
import { ValueError } from "../../errors/index.ts";
import { concatBatches } from "../concat/block-builder.ts";
import type { RecordBatch, Schema, Vector } from "../types.ts";
import { schemaOf } from "./block.ts";
import { FlatBufferTable } from "./flatbuffer-reader.ts";
import { type Message, messageAt } from "./message-stream.ts";
import { readBatch, readDictionary } from "./read-body.ts";
import { type FieldSource, HEADER, readSchema, type SchemaSource } from "./schema-message.ts";
import { validateBatch } from "./validate.ts";

const MAGIC = "ARROW1";

interface ArrowData {
  readonly schema: Schema;
  readonly batches: RecordBatch[];
}

/** The batches are views of `bytes` where the format allows it. */
export function readArrowBytes(bytes: Uint8Array): ArrowData {
  const data = isArrowFile(bytes) ? readFile(bytes) : readStream(bytes);
  data.batches.forEach(validateBatch);
  return data;
}

/** Whether the bytes begin like a file with a footer. A stream begins otherwise. */
export function isArrowFile(bytes: Uint8Array): boolean {
  return hasMagic(bytes, 0);
}

function hasMagic(bytes: Uint8Array, at: number): boolean {
  if (at < 0 || at + MAGIC.length > bytes.byteLength) return false;
  for (let index = 0; index < MAGIC.length; index++) {
    if (bytes[at + index] !== MAGIC.charCodeAt(index)) return false;
  }
  return true;
}

function readStream(bytes: Uint8Array): ArrowData {
  const first = messageAt(bytes, 0);
  if (first?.headerType !== HEADER.schema) {
    throw new ValueError(
      `Not Arrow data: neither a file (it would start with "${MAGIC}") nor a stream (with a schema message).`,
    );
  }
  const source = schemaOf(first);
  const dictionaries = new DictionaryStore(source);
  const batches: RecordBatch[] = [];
  for (let message = messageAt(bytes, first.next); message !== null; message = messageAt(bytes, message.next)) {
    if (message.headerType === HEADER.dictionary) dictionaries.take(message);
    else if (message.headerType === HEADER.batch) {
      batches.push(readBatch(source, message.header, message.body, dictionaries.vectors));
    }
  }
  return { schema: source.schema, batches };
}

function readFile(bytes: Uint8Array): ArrowData {
  const end = bytes.byteLength - FILE_TAIL;
  if (end < MAGIC.length + 2) throw new ValueError(`Arrow file cut short: it has ${bytes.byteLength} bytes.`);
  const start = end - footerLength(bytes.subarray(end), bytes.byteLength);
  const footer = FlatBufferTable.root(bytes.subarray(start, end));
  const source = schemaOfFooter(footer);
  const dictionaries = new DictionaryStore(source);
  // A file may have a dictionary after the batches that use it, so all dictionaries are read first.
  for (const at of blockStarts(footer, 2)) dictionaries.take(expectMessage(bytes, at));
  const batches = blockStarts(footer, 3).map((at) => {
    const message = expectMessage(bytes, at);
    return readBatch(source, message.header, message.body, dictionaries.vectors);
  });
  return { schema: source.schema, batches };
}

/** The last bytes of an Arrow file: the length of its footer, which precedes them, and the magic word. */
export const FILE_TAIL = 4 + MAGIC.length;

/** The length of the footer, from the tail of a file with this many bytes. */
export function footerLength(tail: Uint8Array, fileBytes: number): number {
  if (!hasMagic(tail, 4)) {
    throw new ValueError(`Arrow file cut short: its ${fileBytes} bytes do not end with "${MAGIC}".`);
  }
  const length = new DataView(tail.buffer, tail.byteOffset, FILE_TAIL).getInt32(0, true);
  if (length <= 0 || length > fileBytes - FILE_TAIL - MAGIC.length - 2) {
    throw new ValueError(`Not an Arrow file: a footer of ${length} bytes.`);
  }
  return length;
}

/** The schema of a file from its footer alone, because writers differ in what they put at the beginning. */
export function readFooterSchema(footer: Uint8Array): Schema {
  return schemaOfFooter(FlatBufferTable.root(footer)).schema;
}

function schemaOfFooter(footer: FlatBufferTable): SchemaSource {
  const table = footer.table(1);
  if (table === null) throw new ValueError("Not an Arrow file: its footer has no schema.");
  return readSchema(table);
}

/** The schema of a stream from its first message alone. */
export function readSchemaMessage(message: Uint8Array): Schema {
  const first = messageAt(message, 0);
  if (first?.headerType !== HEADER.schema) throw new ValueError("Not Arrow data: it does not start with a schema.");
  return schemaOf(first).schema;
}

/** A block of the footer is three 64-bit fields, of which the first is its offset. */
function blockStarts(footer: FlatBufferTable, slot: number): number[] {
  return footer.int64s(slot, 3).filter((_, index) => index % 3 === 0);
}

function expectMessage(bytes: Uint8Array, at: number): Message {
  const message = at < 0 ? null : messageAt(bytes, at);
  if (message === null) throw new ValueError(`Not an Arrow file: no message at byte ${at}.`);
  return message;
}

class DictionaryStore {
  readonly vectors = new Map<number, Vector>();
  private readonly fields = new Map<number, FieldSource>();

  constructor(source: SchemaSource) {
    const visit = (field: FieldSource): void => {
      if (field.dictionary !== null) this.fields.set(field.dictionary.id, field);
      field.children.forEach(visit);
    };
    source.fields.forEach(visit);
  }

  take(message: Message): void {
    const id = message.header.int64(0, 0);
    const field = this.fields.get(id);
    const data = message.header.table(1);
    if (field === undefined || data === null) throw new ValueError(`Not Arrow data: no column uses dictionary ${id}.`);
    const values = readDictionary(field, data, message.body, this.vectors);
    const before = this.vectors.get(id);
    const isDelta = message.header.int8(2, 0) !== 0;
    this.vectors.set(id, isDelta && before !== undefined ? joined(before, values) : values);
  }
}

function joined(before: Vector, after: Vector): Vector {
  const schema = { fields: [{ name: "values", type: before.type, nullable: true }] };
  const [values] = concatBatches([
    { schema, length: before.length, columns: [before] },
    { schema, length: after.length, columns: [after] },
  ]).columns;
  if (values === undefined) throw new ValueError("Not Arrow data: a dictionary delta without values.");
  return values;
}
