/** A growing validity bitmap that costs nothing until the first null. */
import { bitmapBytes, clearBits, copyBits, countOnes, setOnes } from "../bitmap.ts";
import { align } from "../ipc/schema-message.ts";
import type { Vector } from "../types.ts";
import { validityOf } from "../vector.ts";
import { GrowableBytes } from "./growable.ts";

export class ValidityBuilder {
  nullCount = 0;
  private length = 0;
  private readonly bits = new GrowableBytes();

  get byteLength(): number {
    return this.nullCount === 0 ? 0 : bitmapBytes(this.length);
  }

  /** Bytes of the bitmap in a block after appending rows [start, end) of the vector. */
  paddedWith(vector: Vector, start: number, end: number): number {
    const source = this.nullCount > 0 ? null : validityOf(vector);
    const count = end - start;
    return this.paddedBy(count, source !== null && countOnes(source, vector.offset + start, count) < count);
  }

  paddedBy(count: number, someNull: boolean): number {
    return this.nullCount > 0 || someNull ? align(bitmapBytes(this.length + count)) : 0;
  }

  reset(): void {
    this.nullCount = 0;
    this.length = 0;
  }

  release(): void {
    this.reset();
    this.bits.release();
  }

  append(vector: Vector, start: number, end: number): void {
    const count = end - start;
    const source = validityOf(vector);
    if (source === null) {
      this.appendValid(count);
      return;
    }
    const from = vector.offset + start;
    const nulls = count - countOnes(source, from, count);
    if (nulls === 0) {
      this.appendValid(count);
      return;
    }
    this.begin(count);
    copyBits(this.bits.bytes, this.length, source, from, count);
    this.nullCount += nulls;
    this.length += count;
  }

  appendValid(count: number): void {
    if (this.nullCount > 0) {
      this.begin(count);
      setOnes(this.bits.bytes, this.length, count);
    }
    this.length += count;
  }

  appendNulls(count: number): void {
    if (count === 0) return;
    this.begin(count);
    clearBits(this.bits.bytes, this.length, count);
    this.nullCount += count;
    this.length += count;
  }

  finish(): Uint8Array | null {
    if (this.nullCount === 0) return null;
    const bytes = bitmapBytes(this.length);
    const last = this.length & 7;
    if (last !== 0) this.bits.bytes[bytes - 1] = (this.bits.bytes[bytes - 1] ?? 0) & ((1 << last) - 1);
    return this.bits.bytes.subarray(0, bytes);
  }

  /** Makes room for `count` more bits. The first time, it also sets ones for all values so far. */
  private begin(count: number): void {
    const kept = this.nullCount === 0 ? 0 : bitmapBytes(this.length);
    this.bits.reserve(bitmapBytes(this.length + count), kept);
    if (this.nullCount === 0) setOnes(this.bits.bytes, 0, this.length);
  }
}
