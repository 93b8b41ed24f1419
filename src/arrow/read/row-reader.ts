/** Rows out of batches: plain objects, every value a copy. */
import { ValueError } from "../../errors/index.ts";
import { schemaEquals } from "../schema.ts";
import type { RecordBatch, Row, Schema, ValueOptions } from "../types.ts";
import { recordFunctions } from "./value-reader.ts";

export interface RowReader {
  /** Rows come from this batch now; it must be good as long as rows are taken. */
  load(batch: RecordBatch): void;
  row(index: number): Row;
}

/** Code for rows of one schema. Reading in order is fastest (strings are decoded in windows). */
export function compileRows(schema: Schema, options: ValueOptions): RowReader {
  const { bind, record } = recordFunctions(schema.fields, options, null);
  let seen = schema;
  return {
    load(batch) {
      if (batch.schema !== seen) {
        if (!schemaEquals(batch.schema, schema)) throw new ValueError("A batch of another schema than the reader's.");
        seen = batch.schema;
      }
      bind(batch.columns);
    },
    row: record,
  };
}

const readers = new WeakMap<Schema, Map<string, RowReader>>();

/** Compiled once a schema object and options. */
function readerFor(schema: Schema, options: ValueOptions): RowReader {
  const key = `${options.int64 ?? ""},${options.decimal ?? ""},${options.timestamp ?? ""}`;
  let known = readers.get(schema);
  if (known === undefined) {
    known = new Map();
    readers.set(schema, known);
  }
  let reader = known.get(key);
  if (reader === undefined) {
    reader = compileRows(schema, options);
    known.set(key, reader);
  }
  return reader;
}

export function toRows(batch: RecordBatch, options: ValueOptions = {}): Row[] {
  const reader = readerFor(batch.schema, options);
  reader.load(batch);
  const rows = new Array<Row>(batch.length);
  for (let index = 0; index < batch.length; index++) rows[index] = reader.row(index);
  return rows;
}
