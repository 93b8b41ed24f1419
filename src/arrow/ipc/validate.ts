/**
 * Checks that foreign vectors are consistent: offsets rise and stay inside, children are long enough, dictionary
 * indices exist, text is UTF-8. After this, bytes go to native code, which does not check them.
 */
import { isUtf8 } from "node:buffer";
import { ValueError } from "../../errors/index.ts";
import { bitmapBytes } from "../bitmap.ts";
import { dictionaryIndices } from "../concat/dictionary.ts";
import { childFields, layoutOf } from "../layout.ts";
import type { RecordBatch, Vector } from "../types.ts";
import { bufferOf, offsetsOf, viewOf } from "../vector.ts";

export function validateBatch(batch: RecordBatch): void {
  for (const [index, field] of batch.schema.fields.entries()) {
    const column = batch.columns[index];
    if (column === undefined || column.length !== batch.length) throw damaged(field.name, "is missing rows");
    validateVector(column, field.name);
  }
}

function damaged(column: string, how: string): ValueError {
  return new ValueError(`Arrow data is damaged: column "${column}" ${how}.`, column);
}

function validateVector(vector: Vector, column: string): void {
  const { length, type } = vector;
  const layout = layoutOf(type);
  const validity = vector.buffers[0] ?? null;
  if (length < 0) throw damaged(column, `has ${length} values`);
  if (validity !== null && validity.byteLength < bitmapBytes(length)) throw damaged(column, "lacks validity bits");
  const fields = childFields(type);
  if (vector.children.length !== fields.length) throw damaged(column, "lacks a child");
  switch (layout.kind) {
    case "bytes": {
      const data = bufferOf(vector, 2);
      const end = validateOffsets(vector, layout.large, data.byteLength, column);
      if (type.kind === "utf8" && !isUtf8(data.subarray(0, end))) throw damaged(column, "holds text that is not UTF-8");
      break;
    }
    case "list":
      validateOffsets(vector, layout.large, vector.children[0]?.length ?? 0, column);
      break;
    case "fixedList":
      if ((vector.children[0]?.length ?? 0) < length * layout.size) throw damaged(column, "lacks list elements");
      break;
    case "struct":
      if (vector.children.some((child) => child.length < length)) throw damaged(column, "lacks values of a field");
      break;
    case "dictionary":
      validateIndices(vector, column);
      break;
  }
  for (const [index, child] of vector.children.entries()) {
    validateVector(child, `${column}.${fields[index]?.name ?? index}`);
  }
}

/** Returns where the last value ends. */
function validateOffsets(vector: Vector, large: boolean, limit: number, column: string): number {
  const { words, stride } = offsetsOf(vector);
  if (large) {
    const halves = viewOf(Uint32Array, bufferOf(vector, 1), 0, 2 * (vector.length + 1));
    for (let high = 1; high < halves.length; high += 2) if (halves[high] !== 0) throw damaged(column, "is past 4 GiB");
  }
  let before = 0;
  for (let row = 0; row <= vector.length; row++) {
    const start = words[row * stride] as number;
    if (!(start >= before)) throw damaged(column, `has offset ${start} after ${before}, at row ${row}`);
    before = start;
  }
  if (before > limit) throw damaged(column, `has offset ${before} of ${limit}`);
  return before;
}

function validateIndices(vector: Vector, column: string): void {
  const values = vector.dictionary;
  const size = values?.length ?? 0;
  const places = dictionaryIndices(vector);
  for (let row = 0; row < places.length; row++) {
    const place = places[row] as number;
    if (place >= size || place < -1) throw damaged(column, `has index ${place} into a dictionary of ${size}`);
  }
  if (values !== null && !validated.has(values)) {
    validateVector(values, column);
    validated.add(values);
  }
}

/** Dictionaries are shared by many batches. */
const validated = new WeakSet<Vector>();
