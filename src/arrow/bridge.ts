/**
 * Tables of other Arrow libraries. Users get tables of flechette (which own their memory); they may give tables of
 * flechette or apache-arrow, or plain IPC bytes. apache-arrow itself is never imported: its tables are recognised by
 * their properties.
 */
import { createRequire } from "node:module";
import type * as Flechette from "@uwdata/flechette";
import type { ExtractionOptions } from "@uwdata/flechette";
import { ValueError } from "../errors/index.ts";
import { isArrayBuffer, isUint8Array } from "../realm/index.ts";
import { fromApacheTable, isApacheTable } from "./apache-table.ts";
import { assertNames } from "./column-names.ts";
import { BlockBuilder, mismatch } from "./concat/block-builder.ts";
import { END_OF_STREAM } from "./ipc/block.ts";
import { planBody } from "./ipc/body-plan.ts";
import { readArrowBytes } from "./ipc/foreign.ts";
import { schemaMessage } from "./ipc/schema-message.ts";
import { plainSchema, schemaEquals, unifySchemas } from "./schema.ts";
import type { Table } from "./table.ts";
import type { RecordBatch, Schema, ValueOptions } from "./types.ts";
import { emptyBatch } from "./vector.ts";

/** Loaded when first used: most programs and workers never need it, and loading it would delay all of them. */
function flechette(): typeof Flechette {
  return createRequire(import.meta.url)("@uwdata/flechette");
}

/** One table of all batches, copied. `values` decide how flechette presents values. */
export function toFlechette(
  batches: readonly RecordBatch[],
  values: Pick<ValueOptions, "int64" | "timestamp"> = {},
): Table {
  const [first] = batches;
  if (first === undefined) throw new ValueError("A table needs at least one batch, for its schema.");
  let schema: Schema = plainSchema(first.schema);
  for (const batch of batches) {
    const unified = unifySchemas(schema, batch.schema);
    if (unified === null) throw mismatch(schema, batch.schema);
    schema = unified;
  }
  const messages = [schemaMessage(schema).slice()];
  for (const batch of batches) {
    const body = planBody(conformed(batch, schema));
    const bytes = new Uint8Array(body.message.byteLength + body.bodyLength);
    bytes.set(body.message);
    body.write(bytes, body.message.byteLength);
    messages.push(bytes);
  }
  messages.push(END_OF_STREAM.slice());
  return flechette().tableFromIPC(messages, inItsWords(values));
}

function inItsWords({ int64, timestamp }: Pick<ValueOptions, "int64" | "timestamp">): ExtractionOptions {
  return { useBigInt: int64 === "bigint", useDate: timestamp !== "bigint" };
}

/**
 * The batch with its columns in the order and types of the schema: nulls of no type become nulls of the column's type.
 */
function conformed(batch: RecordBatch, schema: Schema): RecordBatch {
  if (schemaEquals(plainSchema(batch.schema), schema)) return batch;
  const builder = new BlockBuilder();
  builder.append(emptyBatch(schema));
  builder.append(batch);
  return builder.finish() ?? batch;
}

/** The batches of a table, or of IPC bytes. They may share its memory. */
export function fromArrowTable(value: unknown): RecordBatch[] {
  const batches = batchesOf(value);
  assertNames(batches[0]?.schema.fields.map(({ name }) => name) ?? []);
  return batches;
}

function batchesOf(value: unknown): RecordBatch[] {
  if (isUint8Array(value)) return readTable(value);
  if (isArrayBuffer(value)) return readTable(new Uint8Array(value));
  if (isFlechetteTable(value)) return readTable(encoded(value));
  if (isApacheTable(value)) return fromApacheTable(value);
  const came = value === null || typeof value !== "object" ? String(value) : (value.constructor?.name ?? "an object");
  throw new ValueError(
    `Not an Arrow table: ${came}. Give IPC bytes (a Uint8Array), a table of @uwdata/flechette or one of apache-arrow.`,
  );
}

/** Returns at least one batch, because a table without rows still has columns. */
function readTable(bytes: Uint8Array): RecordBatch[] {
  const { schema, batches } = readArrowBytes(bytes);
  return batches.length === 0 ? [emptyBatch(schema)] : batches;
}

function encoded(table: Table): Uint8Array {
  const bytes = flechette().tableToIPC(table, { format: "stream" });
  if (bytes === null) throw new ValueError("The table could not be encoded as Arrow IPC.");
  return bytes;
}

/**
 * Also recognises a table of another copy of flechette: it has columns of batches, where apache-arrow has batches of
 * columns.
 */
function isFlechetteTable(value: unknown): value is Table {
  return (
    typeof value === "object" &&
    value !== null &&
    "schema" in value &&
    "names" in value &&
    "children" in value &&
    Array.isArray(value.children) &&
    !("batches" in value)
  );
}
