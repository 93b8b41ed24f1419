/**
 * A sink takes the values of one column by index and becomes a vector. Its state for row i depends only on its state
 * for row i - 1, so a row that failed half-way is undone by writing the same index again.
 */
import { bitmapBytes, packBits } from "../bitmap.ts";
import type { DataType, Vector } from "../types.ts";

export interface Sink {
  /** May still contain null types, which later values replace. */
  readonly type: DataType;
  /** Writes the value of a row: the next row, or the last one again. Throws if the value does not fit. */
  write(index: number, value: unknown): void;
  /** Bytes that the first `length` values take. */
  byteLength(length: number): number;
  /** The first `length` values, borrowed until the next write, which starts at 0 again. */
  finish(length: number): Vector;
  /** Writes the elements of a typed array as values from `index` on; false if the sink cannot. */
  writeAll?(index: number, values: ArrayLike<number>): boolean;
}

const FIRST_VALUES = 256;

type GrowableArray<T> = {
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): T;
  readonly BYTES_PER_ELEMENT: number;
};

/** A larger array with the same values; the rest is not zeroed. */
export function enlarged<T extends { readonly length: number }>(
  Kind: GrowableArray<T>,
  before: T,
  needed: number,
  copy: (target: T, source: T) => void,
): T {
  const length = Math.max(FIRST_VALUES, needed, before.length * 2);
  const after = new Kind(Buffer.allocUnsafeSlow(length * Kind.BYTES_PER_ELEMENT).buffer, 0, length);
  copy(after, before);
  return after;
}

export function bytesOf(array: ArrayBufferView, elements: number, width: number): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, elements * width);
}

/** Which values are null. Takes no memory until the first null, then a byte a value. */
export class NullFlags {
  any = false;
  private flags = new Uint8Array(0);
  private bits = new Uint8Array(0);

  setNull(index: number): void {
    this.reserve(index + 1);
    if (!this.any) {
      this.any = true;
      this.flags.fill(1, 0, index);
    }
    this.flags[index] = 0;
  }

  /** Must be called for every value once there is a null. */
  setValid(index: number): void {
    if (index >= this.flags.length) this.reserve(index + 1);
    this.flags[index] = 1;
  }

  setAllValid(from: number, to: number): void {
    if (!this.any) return;
    this.reserve(to);
    this.flags.fill(1, from, to);
  }

  byteLength(length: number): number {
    return this.any ? bitmapBytes(length) : 0;
  }

  /** The bitmap and the number of nulls. Afterwards there are no nulls again. */
  finish(length: number): { validity: Uint8Array | null; nullCount: number } {
    if (!this.any) return { validity: null, nullCount: 0 };
    this.any = false;
    let ones = 0;
    for (let index = 0; index < length; index++) ones += this.flags[index] as number;
    if (ones === length) return { validity: null, nullCount: 0 };
    const bytes = bitmapBytes(length);
    if (this.bits.length < bytes) this.bits = new Uint8Array(bytes * 2);
    packBits(this.bits, this.flags, length);
    return { validity: this.bits.subarray(0, bytes), nullCount: length - ones };
  }

  private reserve(length: number): void {
    if (length <= this.flags.length) return;
    this.flags = enlarged(Uint8Array, this.flags, length, (target, source) => target.set(source));
  }
}

export function leaf(
  type: DataType,
  length: number,
  nulls: { validity: Uint8Array | null; nullCount: number },
  ...data: Uint8Array[]
): Vector {
  return {
    type,
    length,
    nullCount: nulls.nullCount,
    offset: 0,
    buffers: [nulls.validity, ...data],
    children: [],
    dictionary: null,
  };
}
