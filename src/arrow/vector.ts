/** Cuts vectors and batches without copying, and gives access to their buffers as numbers. */
import { bitAt, countOnes } from "./bitmap.ts";
import { childFields, layoutOf } from "./layout.ts";
import type { DataType, RecordBatch, Schema, Vector } from "./types.ts";

const NO_BYTES = new Uint8Array(0);

/** Rows [start, end), sharing the buffers. */
export function sliceVector(vector: Vector, start: number, end: number): Vector {
  if (start === 0 && end === vector.length) return vector;
  const length = end - start;
  let nullCount = vector.nullCount === 0 ? 0 : -1;
  if (vector.type.kind === "null") nullCount = length;
  return { ...vector, offset: vector.offset + start, length, nullCount };
}

/** Rows [start, end), sharing the buffers. */
export function sliceBatch(batch: RecordBatch, start: number, end: number): RecordBatch {
  const from = Math.max(0, Math.min(start, batch.length));
  const to = Math.max(from, Math.min(end, batch.length));
  if (from === 0 && to === batch.length) return batch;
  return {
    schema: batch.schema,
    length: to - from,
    columns: batch.columns.map((column) => sliceVector(column, from, to)),
  };
}

export function emptyVector(type: DataType): Vector {
  const layout = layoutOf(type);
  const buffers: (Uint8Array | null)[] = layout.kind === "none" ? [] : [null];
  if (layout.kind === "bytes" || layout.kind === "list") buffers.push(new Uint8Array(layout.large ? 8 : 4));
  if (layout.kind === "bits" || layout.kind === "fixed" || layout.kind === "bytes" || layout.kind === "dictionary") {
    buffers.push(NO_BYTES);
  }
  return {
    type,
    length: 0,
    nullCount: 0,
    offset: 0,
    buffers,
    children: childFields(type).map((field) => emptyVector(field.type)),
    dictionary: type.kind === "dictionary" ? emptyVector(type.value) : null,
  };
}

export function emptyBatch(schema: Schema): RecordBatch {
  return { schema, length: 0, columns: schema.fields.map((field) => emptyVector(field.type)) };
}

/** The validity bitmap if there may be nulls, otherwise null. */
export function validityOf(vector: Vector): Uint8Array | null {
  return vector.nullCount === 0 ? null : (vector.buffers[0] ?? null);
}

/** Nulls of the vector itself (for a dictionary: of its indices). */
export function countNulls(vector: Vector): number {
  if (vector.type.kind === "null") return vector.length;
  if (vector.nullCount >= 0) return vector.nullCount;
  const validity = vector.buffers[0] ?? null;
  return validity === null ? 0 : vector.length - countOnes(validity, vector.offset, vector.length);
}

export function isNullAt(vector: Vector, index: number): boolean {
  if (vector.type.kind === "null") return true;
  const validity = validityOf(vector);
  return validity !== null && !bitAt(validity, vector.offset + index);
}

/** The bytes of a buffer; empty if the vector has none (C data may leave out an empty buffer). */
export function bufferOf(vector: Vector, index: number): Uint8Array {
  return vector.buffers[index] ?? NO_BYTES;
}

type ViewConstructor<T> = {
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): T;
  readonly BYTES_PER_ELEMENT: number;
};

/**
 * `length` elements of a buffer from element `start`: a view if the memory is aligned, otherwise (bytes of a foreign
 * file at an odd address) a copy of those elements.
 */
export function viewOf<T>(View: ViewConstructor<T>, bytes: Uint8Array, start: number, length: number): T {
  const width = View.BYTES_PER_ELEMENT;
  const from = bytes.byteOffset + start * width;
  if (length === 0) return new View(new ArrayBuffer(0), 0, 0);
  if (from % width === 0) return new View(bytes.buffer, from, length);
  const copy = new Uint8Array(length * width);
  copy.set(bytes.subarray(start * width, (start + length) * width));
  return new View(copy.buffer, 0, length);
}

/** The offsets of a variable-size vector, starting with its first value: entry i is at `words[i * stride]`. */
export interface Offsets {
  readonly words: Int32Array | Uint32Array;
  readonly stride: 1 | 2;
}

const ZERO_OFFSET = new Int32Array(2);

/** Large offsets are read through their low words: no buffer here reaches 4 GiB, so the high words are zero. */
export function offsetsOf(vector: Vector): Offsets {
  const bytes = bufferOf(vector, 1);
  if (bytes.byteLength === 0) return { words: ZERO_OFFSET, stride: 1 };
  if ("large" in vector.type && vector.type.large) {
    return { words: viewOf(Uint32Array, bytes, 2 * vector.offset, 2 * (vector.length + 1)), stride: 2 };
  }
  return { words: viewOf(Int32Array, bytes, vector.offset, vector.length + 1), stride: 1 };
}

export function offsetAt(offsets: Offsets, index: number): number {
  return offsets.words[index * offsets.stride] as number;
}

/** The bytes of a text or of binary data. */
export function bytesAt(vector: Vector, index: number): Uint8Array {
  const offsets = offsetsOf(vector);
  return bufferOf(vector, 2).subarray(offsetAt(offsets, index), offsetAt(offsets, index + 1));
}
