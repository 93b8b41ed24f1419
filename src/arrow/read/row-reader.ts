/** Rows out of batches: plain objects, every value a copy. */
import { sameColumns, schemaEquals } from "../schema.ts";
import type { RecordBatch, Row, Schema, ValueOptions } from "../types.ts";
import { recordFunctions } from "./generated-code.ts";

export interface RowReader {
  /** Rows are read from this batch from now on. It must stay valid as long as rows are read. */
  load(batch: RecordBatch): void;
  row(index: number): Row;
}

/**
 * Code for the rows of one schema. Reading in order is fastest, because strings are decoded in windows. A batch that
 * presents the same columns in another way (dictionaries, another order, nulls of no type) gets code of its own.
 */
export function compileRows(schema: Schema, options: ValueOptions): RowReader {
  let seen = schema;
  let { bind, record } = recordFunctions(schema.fields, options, null);
  let order: readonly number[] | null = null;
  function adapt(incoming: Schema): void {
    const isKnown = schemaEquals(incoming, seen);
    seen = incoming;
    if (isKnown) return;
    const places = sameColumns(schema, incoming);
    order = schemaEquals(incoming, schema) ? null : places;
    const fields = places.flatMap((place) => incoming.fields[place] ?? []);
    ({ bind, record } = recordFunctions(fields, options, null));
    reader.row = record;
  }
  // `row` is the generated function itself: that saves a call, and V8 inlines it.
  const reader = {
    load(batch: RecordBatch): void {
      if (batch.schema !== seen) adapt(batch.schema);
      bind(order === null ? batch.columns : order.flatMap((place) => batch.columns[place] ?? []));
    },
    row: record,
  };
  return reader;
}

const readers = new WeakMap<Schema, Map<string, RowReader>>();

/** Compiled once for each schema object and options. */
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
