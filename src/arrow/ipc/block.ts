/**
 * A block: one record batch as an Arrow IPC stream (schema, batch, end), with buffers at multiples of 64 bytes and
 * without dictionaries. Written directly to its place and read as views.
 */
import { ValueError } from "../../errors/index.ts";
import type { RecordBatch, Schema } from "../types.ts";
import { emptyBatch } from "../vector.ts";
import { planBody } from "./body-plan.ts";
import { type Message, messageAt } from "./message-stream.ts";
import { readBatch } from "./read-body.ts";
import { HEADER, readSchema, type SchemaSource, schemaMessage } from "./schema-message.ts";

export const END_OF_STREAM = Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0);

interface BlockPlan {
  readonly byteLength: number;
  /** Writes exactly `byteLength` bytes at the start of the target. The batch must still be valid. */
  write(target: Uint8Array): void;
}

/** Plans how the batch is written as a block. Rows outside a slice are left out; equal rows give equal bytes. */
export function planBlock(batch: RecordBatch): BlockPlan {
  const schema = schemaMessage(batch.schema);
  const body = planBody(batch);
  const bodyAt = schema.byteLength + body.message.byteLength;
  const byteLength = bodyAt + body.bodyLength + END_OF_STREAM.byteLength;
  return {
    byteLength,
    write(target) {
      if (target.byteLength < byteLength) {
        throw new ValueError(`A block of ${byteLength} bytes does not fit into ${target.byteLength}.`);
      }
      target.set(schema);
      target.set(body.message, schema.byteLength);
      body.write(target, bodyAt);
      target.set(END_OF_STREAM, bodyAt + body.bodyLength);
    },
  };
}

/** The length of a block besides the buffers of its columns, which does not depend on the number of rows. */
export function frameLength(schema: Schema): number {
  const { message } = planBody(emptyBatch(schema));
  return schemaMessage(schema).byteLength + message.byteLength + END_OF_STREAM.byteLength;
}

/** The block in memory of its own. */
export function blockBytes(batch: RecordBatch): Uint8Array {
  const plan = planBlock(batch);
  const bytes = new Uint8Array(plan.byteLength);
  plan.write(bytes);
  return bytes;
}

/** Schemas by their metadata: equal bytes give the same object, so that code compiled for a schema is found again. */
const schemas = new Map<string, SchemaSource>();
const SCHEMAS_KEPT = 64;

export function schemaOf(message: Message): SchemaSource {
  const { metadata } = message;
  const key = Buffer.from(metadata.buffer, metadata.byteOffset, metadata.byteLength).toString("latin1");
  let source = schemas.get(key);
  if (source === undefined) {
    source = readSchema(message.header);
    if (schemas.size >= SCHEMAS_KEPT) for (const [oldest] of schemas) if (schemas.delete(oldest)) break;
    schemas.set(key, source);
  }
  return source;
}

const NO_DICTIONARIES = new Map<number, never>();

/** The batch of a block: views of `bytes`, valid as long as those bytes are. */
export function readBlock(bytes: Uint8Array): RecordBatch {
  const first = messageAt(bytes, 0);
  if (first?.headerType !== HEADER.schema) throw new ValueError("Not a block: it does not start with a schema.");
  const second = messageAt(bytes, first.next);
  if (second?.headerType !== HEADER.batch) throw new ValueError("Not a block: no record batch follows the schema.");
  return readBatch(schemaOf(first), second.header, second.body, NO_DICTIONARIES);
}
