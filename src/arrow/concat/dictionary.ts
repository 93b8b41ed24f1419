/** Turns dictionary columns into plain ones: blocks have no dictionaries, so that each block can be read alone. */
import { bitmapBytes } from "../bitmap.ts";
import { layoutOf } from "../layout.ts";
import { plainType } from "../schema.ts";
import type { IntType, Vector } from "../types.ts";
import { bufferOf, emptyVector, isNullAt, offsetsOf, viewOf } from "../vector.ts";
import { columnBuilder } from "./column-builder.ts";

/** The position in the dictionary of each value; -1 for null. */
export function dictionaryIndices(vector: Vector): Int32Array {
  const { type, length, offset } = vector;
  const places = new Int32Array(length);
  if (type.kind !== "dictionary") return places;
  places.set(indexValues(type.index, bufferOf(vector, 1), offset, length));
  if (vector.nullCount !== 0 && vector.buffers[0]) {
    for (let row = 0; row < length; row++) if (isNullAt(vector, row)) places[row] = -1;
  }
  return places;
}

function indexValues(index: IntType, bytes: Uint8Array, offset: number, length: number): ArrayLike<number> {
  switch (index.bits) {
    case 8:
      return index.signed ? viewOf(Int8Array, bytes, offset, length) : viewOf(Uint8Array, bytes, offset, length);
    case 16:
      return index.signed ? viewOf(Int16Array, bytes, offset, length) : viewOf(Uint16Array, bytes, offset, length);
    case 32:
      return viewOf(Int32Array, bytes, offset, length);
    case 64: {
      const words = viewOf(Int32Array, bytes, 2 * offset, 2 * length);
      return Int32Array.from({ length }, (_, row) => words[2 * row] ?? 0);
    }
  }
}

/** The values that a dictionary vector stands for, in memory of their own. */
export function decodeDictionary(vector: Vector): Vector {
  if (vector.type.kind !== "dictionary") return vector;
  const places = dictionaryIndices(vector);
  let values = vector.dictionary ?? emptyVector(vector.type.value);
  if (values.type.kind === "dictionary") values = decodeDictionary(values);
  return gather(values, places);
}

function gather(values: Vector, places: Int32Array): Vector {
  const type = plainType(values.type);
  const layout = layoutOf(type);
  if (layout.kind === "fixed") return gatherFixed(values, places, layout.width);
  if (layout.kind === "bytes") return gatherBytes(values, places, layout.large);
  const builder = columnBuilder(type);
  for (let row = 0; row < places.length; row++) {
    const place = places[row] as number;
    if (place < 0) builder.appendNulls(1);
    else builder.append(values, place, place + 1);
  }
  return builder.finish();
}

function gatherFixed(values: Vector, places: Int32Array, width: number): Vector {
  const source = bufferOf(values, 1);
  const target = new Uint8Array(places.length * width);
  const validity = gatherValidity(values, places);
  for (let row = 0; row < places.length; row++) {
    const place = places[row] as number;
    if (place < 0) continue;
    const from = (values.offset + place) * width;
    for (let byte = 0; byte < width; byte++) target[row * width + byte] = source[from + byte] as number;
  }
  return plain(values, places.length, validity, [target]);
}

function gatherBytes(values: Vector, places: Int32Array, large: boolean): Vector {
  const source = bufferOf(values, 2);
  const { words, stride } = offsetsOf(values);
  const validity = gatherValidity(values, places);
  let total = 0;
  for (let row = 0; row < places.length; row++) {
    const place = places[row] as number;
    if (place >= 0) total += (words[(place + 1) * stride] as number) - (words[place * stride] as number);
  }
  const data = new Uint8Array(total);
  const offsets = large ? new Int32Array(2 * (places.length + 1)) : new Int32Array(places.length + 1);
  let at = 0;
  for (let row = 0; row < places.length; row++) {
    const place = places[row] as number;
    if (place >= 0) {
      const end = words[(place + 1) * stride] as number;
      for (let from = words[place * stride] as number; from < end; from++) data[at++] = source[from] as number;
    }
    offsets[(row + 1) * stride] = at;
  }
  return plain(values, places.length, validity, [new Uint8Array(offsets.buffer), data]);
}

/** How many nulls and bytes a dictionary vector would have when decoded. A few large values may stand for many. */
export function decodedExtent(vector: Vector): { readonly nulls: number; readonly bytes: number } {
  const places = dictionaryIndices(vector);
  let values = vector.dictionary ?? emptyVector(vector.type.kind === "dictionary" ? vector.type.value : vector.type);
  if (values.type.kind === "dictionary") values = decodeDictionary(values);
  const sized = layoutOf(values.type).kind === "bytes";
  const { words, stride } = sized ? offsetsOf(values) : NO_OFFSETS;
  let nulls = 0;
  let bytes = 0;
  for (let row = 0; row < places.length; row++) {
    const place = places[row] as number;
    if (place < 0 || isNullAt(values, place)) nulls++;
    if (sized && place >= 0) bytes += (words[(place + 1) * stride] as number) - (words[place * stride] as number);
  }
  return { nulls, bytes };
}

const NO_OFFSETS = { words: new Int32Array(0), stride: 1 } as const;

/** A null index is a null, and so is the index of a null. */
function gatherValidity(values: Vector, places: Int32Array): { bits: Uint8Array | null; nulls: number } {
  const bits = new Uint8Array(bitmapBytes(places.length));
  let nulls = 0;
  for (let row = 0; row < places.length; row++) {
    const place = places[row] as number;
    if (place < 0 || isNullAt(values, place)) nulls++;
    else bits[row >>> 3] = (bits[row >>> 3] as number) | (1 << (row & 7));
  }
  return { bits: nulls === 0 ? null : bits, nulls };
}

function plain(
  values: Vector,
  length: number,
  validity: { bits: Uint8Array | null; nulls: number },
  data: Uint8Array[],
): Vector {
  return {
    type: values.type,
    length,
    nullCount: validity.nulls,
    offset: 0,
    buffers: [validity.bits, ...data],
    children: [],
    dictionary: null,
  };
}
