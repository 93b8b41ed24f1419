/**
 * Makes an Arrow IPC file piece by piece: header, any number of batches, footer. The caller decides where the bytes go.
 */
import { RowShapeError } from "../../errors/index.ts";
import { plainSchema, schemaEquals } from "../schema.ts";
import { typeName } from "../typename.ts";
import type { RecordBatch, Schema } from "../types.ts";
import { END_OF_STREAM } from "./block.ts";
import { planBody } from "./body-plan.ts";
import { FlatBufferWriter } from "./flatbuffer-writer.ts";
import { framed, schemaMessage, VERSION, writeSchema } from "./schema-message.ts";

interface ArrowFileWriter {
  /** The first bytes of the file. */
  header(): Uint8Array;
  /** The bytes of one more batch, in memory of their own. */
  batch(batch: RecordBatch): Uint8Array;
  /** The last bytes of the file. */
  footer(): Uint8Array;
}

const MAGIC = new TextEncoder().encode("ARROW1");

export function arrowFileWriter(schema: Schema): ArrowFileWriter {
  const plain = plainSchema(schema);
  /** offset, metadata length, body length of each batch. */
  const blocks: number[] = [];
  const header = fileHeader(plain);
  let written = header.byteLength;
  return {
    header: () => header,
    batch(batch) {
      if (!schemaEquals(plainSchema(batch.schema), plain)) throw otherSchema(plain, batch.schema);
      const body = planBody(batch);
      const bytes = new Uint8Array(body.message.byteLength + body.bodyLength);
      bytes.set(body.message);
      body.write(bytes, body.message.byteLength);
      blocks.push(written, body.message.byteLength, body.bodyLength);
      written += bytes.byteLength;
      return bytes;
    },
    footer: () => fileFooter(plain, blocks),
  };
}

/** The magic padded to 8 bytes, then the schema message, padded so that what follows is aligned. */
function fileHeader(schema: Schema): Uint8Array {
  const metadata = schemaMessage(schema).subarray(8);
  const message = framed(metadata, 8);
  const bytes = new Uint8Array(8 + message.byteLength);
  bytes.set(MAGIC);
  bytes.set(message, 8);
  return bytes;
}

function fileFooter(schema: Schema, blocks: readonly number[]): Uint8Array {
  const writer = new FlatBufferWriter();
  const batches = writer.int64Structs(blocks, 3);
  const dictionaries = writer.int64Structs([], 3);
  const fields = writeSchema(writer, schema);
  writer.startTable();
  writer.addPointer(1, fields);
  writer.addPointer(2, dictionaries);
  writer.addPointer(3, batches);
  writer.addInt16(0, VERSION);
  const footer = writer.finish(writer.endTable());
  const bytes = new Uint8Array(END_OF_STREAM.byteLength + footer.byteLength + 4 + MAGIC.byteLength);
  bytes.set(END_OF_STREAM);
  bytes.set(footer, END_OF_STREAM.byteLength);
  const at = END_OF_STREAM.byteLength + footer.byteLength;
  new DataView(bytes.buffer).setInt32(at, footer.byteLength, true);
  bytes.set(MAGIC, at + 4);
  return bytes;
}

function otherSchema(have: Schema, incoming: Schema): RowShapeError {
  const print = (schema: Schema) => schema.fields.map((field) => `${field.name} ${typeName(field.type)}`).join(", ");
  return new RowShapeError(
    `All batches of a file have one schema; it is (${print(have)}), not (${print(incoming)}).`,
    null,
  );
}
