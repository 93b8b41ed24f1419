/**
 * Rows of a batch in any order, as a batch in memory of its own. Dictionaries are shared unchanged. Written as loops
 * over typed arrays, because scattering rows to partitions consists of nothing else.
 */
import { bitAt } from "./bitmap.ts";
import { layoutOf } from "./layout.ts";
import type { RecordBatch, Vector } from "./types.ts";
import { bufferOf, type Offsets, offsetAt, offsetsOf, validityOf, viewOf } from "./vector.ts";

/** Up to this length, copying byte by byte costs less than a call. */
const SHORT_BYTES = 24;

/** Row i of the result is row `rows[i]` of the batch. */
export function takeBatch(batch: RecordBatch, rows: Int32Array): RecordBatch {
  return {
    schema: batch.schema,
    length: rows.length,
    columns: batch.columns.map((column) => takeVector(column, rows)),
  };
}

function takeVector(vector: Vector, rows: Int32Array): Vector {
  const { type } = vector;
  const length = rows.length;
  if (type.kind === "null") return { ...vector, offset: 0, length, nullCount: length };
  const validity = takeValidity(vector, rows);
  const taken = { type, length, nullCount: validity?.nullCount ?? 0, offset: 0, dictionary: vector.dictionary };
  const bits = validity?.bits ?? null;
  const layout = layoutOf(type);
  switch (layout.kind) {
    case "none":
      return { ...taken, buffers: [], children: [] };
    case "bits":
      return { ...taken, buffers: [bits, takeBits(bufferOf(vector, 1), vector.offset, rows)], children: [] };
    case "fixed":
    case "dictionary":
      return { ...taken, buffers: [bits, takeFixed(vector, layout.width, rows)], children: [] };
    case "bytes":
      return { ...taken, buffers: [bits, ...takeBytes(vector, layout.large, rows)], children: [] };
    case "list": {
      const { offsets, children } = takeLists(vector, layout.large, rows);
      return { ...taken, buffers: [bits, offsets], children };
    }
    case "fixedList":
      return { ...taken, buffers: [bits], children: takeChildren(vector, fixedPlaces(vector, layout.size, rows)) };
    case "struct":
      return { ...taken, buffers: [bits], children: takeChildren(vector, shifted(rows, vector.offset)) };
  }
}

function takeChildren(vector: Vector, places: Int32Array): readonly Vector[] {
  return vector.children.map((child) => takeVector(child, places));
}

function takeValidity(
  vector: Vector,
  rows: Int32Array,
): { readonly bits: Uint8Array; readonly nullCount: number } | null {
  const validity = validityOf(vector);
  if (validity === null) return null;
  const bits = takeBits(validity, vector.offset, rows);
  let ones = 0;
  for (let row = 0; row < rows.length; row++) if (bitAt(bits, row)) ones++;
  return ones === rows.length ? null : { bits, nullCount: rows.length - ones };
}

function takeBits(from: Uint8Array, offset: number, rows: Int32Array): Uint8Array {
  const bits = new Uint8Array((rows.length + 7) >>> 3);
  for (let row = 0; row < rows.length; row++) {
    if (bitAt(from, offset + (rows[row] as number))) bits[row >>> 3] = (bits[row >>> 3] as number) | (1 << (row & 7));
  }
  return bits;
}

function takeFixed(vector: Vector, width: number, rows: Int32Array): Uint8Array {
  const data = bufferOf(vector, 1);
  const { offset, length } = vector;
  const words = width % 4 === 0 ? 4 : width % 2 === 0 ? 2 : 1;
  const each = width / words;
  const View = words === 4 ? Uint32Array : words === 2 ? Uint16Array : Uint8Array;
  const from = viewOf<Uint32Array | Uint16Array | Uint8Array>(View, data, offset * each, length * each);
  const to = new View(rows.length * each);
  if (each === 1) for (let row = 0; row < rows.length; row++) to[row] = from[rows[row] as number] as number;
  else if (each === 2) takePairs(from, to, rows);
  else takeWords(from, to, rows, each);
  return new Uint8Array(to.buffer);
}

type Words = Uint32Array | Uint16Array | Uint8Array;

/** Eight bytes are copied as two words and not as a double, which may not keep every bit. */
function takePairs(from: Words, to: Words, rows: Int32Array): void {
  for (let row = 0; row < rows.length; row++) {
    const at = (rows[row] as number) * 2;
    to[2 * row] = from[at] as number;
    to[2 * row + 1] = from[at + 1] as number;
  }
}

function takeWords(from: Words, to: Words, rows: Int32Array, each: number): void {
  for (let row = 0; row < rows.length; row++) {
    const at = (rows[row] as number) * each;
    for (let word = 0; word < each; word++) to[row * each + word] = from[at + word] as number;
  }
}

/** The offsets of the chosen rows, and the number of their values; a null has none. */
function takenOffsets(vector: Vector, offsets: Offsets, large: boolean, rows: Int32Array) {
  const stride = large ? 2 : 1;
  const validity = validityOf(vector);
  const ends = new Int32Array((rows.length + 1) * stride);
  let total = 0;
  for (let row = 0; row < rows.length; row++) {
    const at = rows[row] as number;
    if (validity === null || bitAt(validity, vector.offset + at))
      total += offsetAt(offsets, at + 1) - offsetAt(offsets, at);
    ends[(row + 1) * stride] = total;
  }
  return { ends, stride, total };
}

function takeBytes(vector: Vector, large: boolean, rows: Int32Array): readonly Uint8Array[] {
  const offsets = offsetsOf(vector);
  const data = bufferOf(vector, 2);
  const { ends, stride, total } = takenOffsets(vector, offsets, large, rows);
  const bytes = new Uint8Array(total);
  for (let row = 0; row < rows.length; row++) {
    const to = ends[row * stride] as number;
    const length = (ends[(row + 1) * stride] as number) - to;
    const from = offsetAt(offsets, rows[row] as number);
    if (length > SHORT_BYTES) bytes.set(data.subarray(from, from + length), to);
    else for (let byte = 0; byte < length; byte++) bytes[to + byte] = data[from + byte] as number;
  }
  return [new Uint8Array(ends.buffer), bytes];
}

function takeLists(vector: Vector, large: boolean, rows: Int32Array) {
  const offsets = offsetsOf(vector);
  const { ends, stride, total } = takenOffsets(vector, offsets, large, rows);
  const places = new Int32Array(total);
  for (let row = 0; row < rows.length; row++) {
    const from = offsetAt(offsets, rows[row] as number);
    const start = ends[row * stride] as number;
    const end = ends[(row + 1) * stride] as number;
    for (let at = start; at < end; at++) places[at] = from + at - start;
  }
  return { offsets: new Uint8Array(ends.buffer), children: takeChildren(vector, places) };
}

function fixedPlaces(vector: Vector, size: number, rows: Int32Array): Int32Array {
  const places = new Int32Array(rows.length * size);
  for (let row = 0; row < rows.length; row++) {
    const from = (vector.offset + (rows[row] as number)) * size;
    for (let at = 0; at < size; at++) places[row * size + at] = from + at;
  }
  return places;
}

function shifted(rows: Int32Array, offset: number): Int32Array {
  return offset === 0 ? rows : rows.map((row) => row + offset);
}
