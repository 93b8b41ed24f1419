/** Reads and writes Arrow's schema metadata, and frames messages. */
import { ValueError } from "../../errors/index.ts";
import { childFields } from "../layout.ts";
import { plainSchema } from "../schema.ts";
import type { DataType, Field, Schema } from "../types.ts";
import type { FlatBufferTable } from "./flatbuffer-reader.ts";
import { FlatBufferWriter, type Position } from "./flatbuffer-writer.ts";
import { type Encoding, readInt, readType, typeCode, writeType } from "./type-code.ts";

/** MetadataVersion.V5 */
export const VERSION = 4;
export const HEADER = { schema: 1, dictionary: 2, batch: 3 } as const;
/** Buffers, messages and blocks start at multiples of this. */
const ALIGNMENT = 64;

export function align(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

export function writeSchema(writer: FlatBufferWriter, schema: Schema): Position {
  const fields = writer.vector(schema.fields.map((field) => writeField(writer, field)));
  writer.startTable();
  writer.addInt16(0, 0);
  writer.addPointer(1, fields);
  return writer.endTable();
}

function writeField(writer: FlatBufferWriter, field: Field): Position {
  const children = writer.vector(childFields(field.type).map((child) => writeField(writer, child)));
  const type = writeType(writer, field.type);
  const name = writer.string(field.name);
  writer.startTable();
  writer.addPointer(0, name);
  writer.addInt8(1, field.nullable ? 1 : 0);
  writer.addInt8(2, typeCode(field.type));
  writer.addPointer(3, type);
  writer.addPointer(5, children);
  return writer.endTable();
}

export function writeMessage(
  writer: FlatBufferWriter,
  headerType: number,
  header: Position,
  bodyLength: number,
): Uint8Array {
  writer.startTable();
  writer.addInt64(3, bodyLength);
  writer.addPointer(2, header);
  writer.addInt16(0, VERSION);
  writer.addInt8(1, headerType);
  return framed(writer.finish(writer.endTable()), 0);
}

/** Continuation marker, length, metadata, padding. `before` bytes precede it; the padding makes its end aligned. */
export function framed(metadata: Uint8Array, before: number): Uint8Array {
  const total = align(before + 8 + metadata.length) - before;
  const message = new Uint8Array(total);
  const view = new DataView(message.buffer);
  view.setUint32(0, 0xffffffff, true);
  view.setUint32(4, total - 8, true);
  message.set(metadata, 8);
  return message;
}

const messages = new WeakMap<Schema, Uint8Array>();

/** The schema message for blocks of this schema (without dictionaries); computed once for each schema object. */
export function schemaMessage(schema: Schema): Uint8Array {
  let message = messages.get(schema);
  if (message === undefined) {
    const writer = new FlatBufferWriter();
    message = writeMessage(writer, HEADER.schema, writeSchema(writer, plainSchema(schema)), 0);
    messages.set(schema, message);
  }
  return message;
}

/** What is needed, besides types, to read batches of a foreign schema: ids of dictionaries and encodings of views. */
export interface FieldSource {
  readonly field: Field;
  readonly encoding: Encoding;
  readonly children: readonly FieldSource[];
  /** Set if the field is dictionary-encoded: batches contain indices into the values with this id. */
  readonly dictionary: { readonly id: number; readonly value: DataType } | null;
}

export interface SchemaSource {
  readonly schema: Schema;
  readonly fields: readonly FieldSource[];
}

export function readSchema(table: FlatBufferTable): SchemaSource {
  if (table.int16(0, 0) !== 0)
    throw new ValueError("Big-endian Arrow data is not supported. Write it as little-endian.");
  const fields = table.tables(1).map(readField);
  return { schema: { fields: fields.map((source) => source.field) }, fields };
}

function readField(table: FlatBufferTable): FieldSource {
  const name = table.string(0) ?? "";
  const nullable = table.int8(1, 0) !== 0;
  const parameters = table.table(3);
  if (parameters === null) throw new ValueError(`Not Arrow data: the column "${name}" has no type.`, name);
  const children = table.tables(5).map(readField);
  const { type, encoding } = readType(
    table.int8(2, 0),
    parameters,
    children.map((child) => child.field),
    name,
  );
  const encoded = table.table(4);
  if (encoded === null) return { field: { name, type, nullable }, encoding, children, dictionary: null };
  const id = encoded.int64(0, 0);
  const index = readInt(encoded.table(1), name);
  return {
    field: { name, type: { kind: "dictionary", index, value: type }, nullable },
    encoding,
    children,
    dictionary: { id, value: type },
  };
}
