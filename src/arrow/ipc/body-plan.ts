/**
 * A record batch as bytes: field nodes and buffers in Arrow's order, with slices cut out, offsets rebased and
 * dictionaries decoded. Sizes are known before anything is written, and writing copies each value once. Slots under
 * nulls and the ends of bitmaps are zeroed: equal rows give equal bytes, which is how replays are checked.
 */
import { bitAt, bitmapBytes, copyBits } from "../bitmap.ts";
import { decodeDictionary } from "../concat/dictionary.ts";
import { layoutOf } from "../layout.ts";
import type { RecordBatch, Vector } from "../types.ts";
import { bufferOf, countNulls, offsetAt, offsetsOf, sliceVector } from "../vector.ts";
import { FlatBufferWriter } from "./flatbuffer-writer.ts";
import { align, HEADER, writeMessage } from "./schema-message.ts";

interface Piece {
  readonly byteLength: number;
  write(target: Uint8Array): void;
}

const NOTHING: Piece = { byteLength: 0, write: () => {} };

interface BodyPlan {
  /** The framed record batch message that precedes the body. */
  readonly message: Uint8Array;
  readonly bodyLength: number;
  write(target: Uint8Array, at: number): void;
}

export function planBody(batch: RecordBatch): BodyPlan {
  const nodes: number[] = [];
  const pieces: Piece[] = [];
  for (const column of batch.columns) addVector(sliceVector(column, 0, batch.length), nodes, pieces);
  const regions: number[] = [];
  let bodyLength = 0;
  for (const piece of pieces) {
    regions.push(bodyLength, piece.byteLength);
    bodyLength += align(piece.byteLength);
  }
  const message = batchMessage(batch.length, nodes, regions, bodyLength);
  const write = (target: Uint8Array, at: number): void => {
    let from = at;
    for (const piece of pieces) {
      const end = from + piece.byteLength;
      const next = from + align(piece.byteLength);
      if (piece.byteLength > 0) piece.write(target.subarray(from, end));
      target.fill(0, end, next);
      from = next;
    }
  };
  return { message, bodyLength, write };
}

function batchMessage(length: number, nodes: number[], regions: number[], bodyLength: number): Uint8Array {
  const writer = new FlatBufferWriter();
  const buffers = writer.int64Structs(regions, 2);
  const fieldNodes = writer.int64Structs(nodes, 2);
  writer.startTable();
  writer.addInt64(0, length);
  writer.addPointer(1, fieldNodes);
  writer.addPointer(2, buffers);
  return writeMessage(writer, HEADER.batch, writer.endTable(), bodyLength);
}

function addVector(source: Vector, nodes: number[], pieces: Piece[]): void {
  const vector = source.type.kind === "dictionary" ? decodeDictionary(source) : source;
  const layout = layoutOf(vector.type);
  const { length, offset } = vector;
  const nulls = countNulls(vector);
  nodes.push(length, nulls);
  if (layout.kind === "none") return;
  const validity = nulls === 0 ? null : (vector.buffers[0] ?? null);
  pieces.push(validity === null ? NOTHING : bitsPiece(validity, offset, length));
  switch (layout.kind) {
    case "bits":
      pieces.push(maskedBitsPiece(bufferOf(vector, 1), validity, offset, length));
      break;
    case "fixed":
      pieces.push(fixedPiece(vector, layout.width, validity));
      break;
    case "bytes": {
      const { from, to } = range(vector);
      pieces.push(offsetsPiece(vector, layout.large), bytesPiece(bufferOf(vector, 2), from, to));
      break;
    }
    case "list": {
      const { from, to } = range(vector);
      pieces.push(offsetsPiece(vector, layout.large));
      for (const child of vector.children) addVector(sliceVector(child, from, to), nodes, pieces);
      break;
    }
    case "fixedList": {
      const { size } = layout;
      for (const child of vector.children) {
        addVector(sliceVector(child, offset * size, (offset + length) * size), nodes, pieces);
      }
      break;
    }
    case "struct":
      for (const child of vector.children) addVector(sliceVector(child, offset, offset + length), nodes, pieces);
      break;
  }
}

function range(vector: Vector): { from: number; to: number } {
  const offsets = offsetsOf(vector);
  return {
    from: offsetAt(offsets, 0),
    to: vector.length === 0 ? offsetAt(offsets, 0) : offsetAt(offsets, vector.length),
  };
}

function bitsPiece(bits: Uint8Array, start: number, length: number): Piece {
  return { byteLength: bitmapBytes(length), write: (target) => copyBits(target, 0, bits, start, length) };
}

/** Booleans, false under nulls. */
function maskedBitsPiece(bits: Uint8Array, validity: Uint8Array | null, start: number, length: number): Piece {
  if (validity === null) return bitsPiece(bits, start, length);
  const byteLength = bitmapBytes(length);
  return {
    byteLength,
    write(target) {
      const mask = new Uint8Array(byteLength);
      copyBits(mask, 0, validity, start, length);
      copyBits(target, 0, bits, start, length);
      for (let byte = 0; byte < byteLength; byte++) target[byte] = (target[byte] as number) & (mask[byte] as number);
    },
  };
}

function bytesPiece(bytes: Uint8Array, from: number, to: number): Piece {
  return { byteLength: to - from, write: (target) => target.set(bytes.subarray(from, to)) };
}

function fixedPiece(vector: Vector, width: number, validity: Uint8Array | null): Piece {
  const from = vector.offset * width;
  const byteLength = vector.length * width;
  const bytes = bufferOf(vector, 1);
  return {
    byteLength,
    write(target) {
      target.set(bytes.subarray(from, from + byteLength));
      if (validity === null) return;
      for (let row = 0; row < vector.length; row++) {
        const bit = vector.offset + row;
        if ((bit & 7) === 0 && validity[bit >>> 3] === 255) row += 7;
        else if (!bitAt(validity, bit)) target.fill(0, row * width, (row + 1) * width);
      }
    },
  };
}

function offsetsPiece(vector: Vector, large: boolean): Piece {
  const { length } = vector;
  const byteLength = (length + 1) * (large ? 8 : 4);
  return {
    byteLength,
    write(target) {
      // Buffers of the body are at multiples of 64 in the target. If the target itself is not aligned, they go through
      // a copy.
      const aligned = target.byteOffset % 4 === 0;
      const to = aligned
        ? new Int32Array(target.buffer, target.byteOffset, byteLength / 4)
        : new Int32Array(byteLength / 4);
      const { words, stride } = offsetsOf(vector);
      const first = words[0] as number;
      if (large) {
        for (let row = 0; row <= length; row++) {
          to[2 * row] = row === 0 ? 0 : (words[row * stride] as number) - first;
          to[2 * row + 1] = 0;
        }
      } else if (first === 0) {
        to.set(words.subarray(0, length + 1));
      } else {
        for (let row = 0; row <= length; row++) to[row] = (words[row] as number) - first;
      }
      if (!aligned) target.set(new Uint8Array(to.buffer));
    },
  };
}
