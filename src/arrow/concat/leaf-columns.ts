/** Columns without children: nulls, bits, values of one width, text and bytes. */
import { bitmapBytes, clearBits, copyBits } from "../bitmap.ts";
import { align } from "../ipc/schema-message.ts";
import type { DataType, Vector } from "../types.ts";
import { bufferOf } from "../vector.ts";
import type { ColumnBuilder } from "./column-builder.ts";
import { GrowableBytes } from "./growable.ts";
import { OffsetsBuilder, rangeOf } from "./offsets.ts";
import { ValidityBuilder } from "./validity.ts";

const NONE: readonly Vector[] = [];

export class NullColumn implements ColumnBuilder {
  readonly type: DataType = { kind: "null" };
  length = 0;
  readonly byteLength = 0;
  paddedWith(): number {
    return 0;
  }
  paddedBy(): number {
    return 0;
  }
  reset(): void {
    this.length = 0;
  }
  release(): void {
    this.length = 0;
  }
  append(_vector: Vector, start: number, end: number): void {
    this.length += end - start;
  }
  appendNulls(count: number): void {
    this.length += count;
  }
  finish(): Vector {
    const length = this.length;
    return { type: this.type, length, nullCount: length, offset: 0, buffers: [], children: NONE, dictionary: null };
  }
}

export class BitColumn implements ColumnBuilder {
  length = 0;
  private readonly validity = new ValidityBuilder();
  private readonly bits = new GrowableBytes();
  constructor(readonly type: DataType) {}

  get byteLength(): number {
    return bitmapBytes(this.length) + this.validity.byteLength;
  }
  paddedWith(vector: Vector, start: number, end: number): number {
    return align(bitmapBytes(this.length + end - start)) + this.validity.paddedWith(vector, start, end);
  }
  paddedBy(count: number, someNull: boolean): number {
    return align(bitmapBytes(this.length + count)) + this.validity.paddedBy(count, someNull);
  }
  reset(): void {
    this.length = 0;
    this.validity.reset();
  }
  release(): void {
    this.reset();
    this.validity.release();
    this.bits.release();
  }
  append(vector: Vector, start: number, end: number): void {
    const count = end - start;
    this.bits.reserve(bitmapBytes(this.length + count), bitmapBytes(this.length));
    copyBits(this.bits.bytes, this.length, bufferOf(vector, 1), vector.offset + start, count);
    this.validity.append(vector, start, end);
    this.length += count;
  }
  appendNulls(count: number): void {
    this.bits.reserve(bitmapBytes(this.length + count), bitmapBytes(this.length));
    clearBits(this.bits.bytes, this.length, count);
    this.validity.appendNulls(count);
    this.length += count;
  }
  finish(): Vector {
    const { type, length } = this;
    const buffers = [this.validity.finish(), this.bits.bytes.subarray(0, bitmapBytes(length))];
    return { type, length, nullCount: this.validity.nullCount, offset: 0, buffers, children: NONE, dictionary: null };
  }
}

export class FixedColumn implements ColumnBuilder {
  length = 0;
  private readonly validity = new ValidityBuilder();
  private readonly data = new GrowableBytes();
  constructor(
    readonly type: DataType,
    private readonly width: number,
  ) {}

  get byteLength(): number {
    return this.length * this.width + this.validity.byteLength;
  }
  paddedWith(vector: Vector, start: number, end: number): number {
    return align((this.length + end - start) * this.width) + this.validity.paddedWith(vector, start, end);
  }
  paddedBy(count: number, someNull: boolean): number {
    return align((this.length + count) * this.width) + this.validity.paddedBy(count, someNull);
  }
  reset(): void {
    this.length = 0;
    this.validity.reset();
  }
  release(): void {
    this.reset();
    this.validity.release();
    this.data.release();
  }
  append(vector: Vector, start: number, end: number): void {
    const { width } = this;
    const at = this.length * width;
    const from = (vector.offset + start) * width;
    const bytes = (end - start) * width;
    this.data.reserve(at + bytes, at);
    this.data.bytes.set(bufferOf(vector, 1).subarray(from, from + bytes), at);
    this.validity.append(vector, start, end);
    this.length += end - start;
  }
  appendNulls(count: number): void {
    const at = this.length * this.width;
    const end = at + count * this.width;
    this.data.reserve(end, at);
    this.data.bytes.fill(0, at, end);
    this.validity.appendNulls(count);
    this.length += count;
  }
  finish(): Vector {
    const { type, length } = this;
    const buffers = [this.validity.finish(), this.data.bytes.subarray(0, length * this.width)];
    return { type, length, nullCount: this.validity.nullCount, offset: 0, buffers, children: NONE, dictionary: null };
  }
}

export class BytesColumn implements ColumnBuilder {
  length = 0;
  private readonly validity = new ValidityBuilder();
  private readonly offsets = new OffsetsBuilder();
  private readonly data = new GrowableBytes();
  constructor(
    readonly type: DataType,
    private readonly large: boolean,
  ) {}

  get byteLength(): number {
    return this.offsets.end + this.offsets.byteLength * (this.large ? 2 : 1) + this.validity.byteLength;
  }
  paddedWith(vector: Vector, start: number, end: number): number {
    const { from, to } = rangeOf(vector, start, end);
    return this.paddedBuffers(end - start, to - from) + this.validity.paddedWith(vector, start, end);
  }
  paddedBy(count: number, someNull: boolean, bytes: number): number {
    return this.paddedBuffers(count, bytes) + this.validity.paddedBy(count, someNull);
  }
  private paddedBuffers(count: number, bytes: number): number {
    return align(this.offsets.end + bytes) + this.offsets.paddedBy(count, this.large);
  }
  reset(): void {
    this.length = 0;
    this.validity.reset();
    this.offsets.reset();
  }
  release(): void {
    this.reset();
    this.validity.release();
    this.offsets.release();
    this.data.release();
  }
  append(vector: Vector, start: number, end: number): void {
    const at = this.offsets.end;
    const { from, to } = this.offsets.append(vector, start, end);
    this.data.reserve(this.offsets.end, at);
    if (to > from) this.data.bytes.set(bufferOf(vector, 2).subarray(from, to), at);
    this.validity.append(vector, start, end);
    this.length += end - start;
  }
  appendNulls(count: number): void {
    this.offsets.appendEmpty(count);
    this.validity.appendNulls(count);
    this.length += count;
  }
  finish(): Vector {
    const { type, length } = this;
    const data = this.data.bytes.subarray(0, this.offsets.end);
    const buffers = [this.validity.finish(), this.offsets.finish(this.large), data];
    return { type, length, nullCount: this.validity.nullCount, offset: 0, buffers, children: NONE, dictionary: null };
  }
}
