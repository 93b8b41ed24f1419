/**
 * One column being put together from pieces of others: offsets rebased, bitmaps shifted, children in step. Sources
 * have the builder's type, or are dictionaries of it, or are of the null type; schemas are checked by BlockBuilder.
 */
import { ValueError } from "../../errors/index.ts";
import { bitmapBytes, clearBits, copyBits } from "../bitmap.ts";
import { childFields, layoutOf, withChildren } from "../layout.ts";
import type { DataType, Field, Vector } from "../types.ts";
import { bufferOf, offsetAt, offsetsOf, sliceVector } from "../vector.ts";
import { decodeDictionary } from "./dictionary.ts";
import { GrowableBytes } from "./growable.ts";
import { ValidityBuilder } from "./validity.ts";

export interface ColumnBuilder {
  readonly type: DataType;
  readonly length: number;
  readonly byteLength: number;
  /** Forgets the values and keeps the memory. */
  reset(): void;
  append(vector: Vector, start: number, end: number): void;
  appendNulls(count: number): void;
  /** Views of the scratch memory, good until the next append. */
  finish(): Vector;
}

export function columnBuilder(type: DataType): ColumnBuilder {
  const layout = layoutOf(type);
  switch (layout.kind) {
    case "none":
      return new NullColumn();
    case "bits":
      return new BitColumn(type);
    case "fixed":
      return new FixedColumn(type, layout.width);
    case "bytes":
      return new BytesColumn(type, layout.large);
    case "list":
      return new ListColumn(type, layout.large);
    case "fixedList":
      return new FixedListColumn(type, layout.size);
    case "struct":
      return new StructColumn(type);
    case "dictionary":
      throw new ValueError("A column builder holds plain values; give it the type inside the dictionary.");
  }
}

/** Appends rows of a vector of any kind that the builder can hold. */
export function appendVector(builder: ColumnBuilder, vector: Vector, start: number, end: number): void {
  if (end <= start) return;
  if (vector.type.kind === "null") builder.appendNulls(end - start);
  else if (vector.type.kind === "dictionary") {
    builder.append(decodeDictionary(sliceVector(vector, start, end)), 0, end - start);
  } else builder.append(vector, start, end);
}

/** The builder for a type that its own type gave way to: null somewhere inside became something. */
export function widened(builder: ColumnBuilder, type: DataType): ColumnBuilder {
  if (builder.type.kind === "null" && type.kind !== "null") {
    const fresh = columnBuilder(type);
    fresh.appendNulls(builder.length);
    return fresh;
  }
  if (builder instanceof ParentColumn) builder.widen(type);
  return builder;
}

const NONE: readonly Vector[] = [];

class NullColumn implements ColumnBuilder {
  readonly type: DataType = { kind: "null" };
  length = 0;
  readonly byteLength = 0;
  reset(): void {
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

class BitColumn implements ColumnBuilder {
  length = 0;
  private readonly validity = new ValidityBuilder();
  private readonly bits = new GrowableBytes();
  constructor(readonly type: DataType) {}

  get byteLength(): number {
    return bitmapBytes(this.length) + this.validity.byteLength;
  }
  reset(): void {
    this.length = 0;
    this.validity.reset();
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

class FixedColumn implements ColumnBuilder {
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
  reset(): void {
    this.length = 0;
    this.validity.reset();
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

/** Growing offsets, 32 bits each while building; widened at the end for the large types. */
class OffsetsBuilder {
  /** Where the next value starts. */
  end = 0;
  private length = 0;
  private readonly scratch = new GrowableBytes();
  private readonly wide = new GrowableBytes();

  get byteLength(): number {
    return (this.length + 1) * 4;
  }
  reset(): void {
    this.end = 0;
    this.length = 0;
  }
  /** Returns the range of the source's data that belongs to rows [start, end). */
  append(vector: Vector, large: boolean, start: number, end: number): { from: number; to: number } {
    const offsets = offsetsOf(vector, large);
    const from = offsetAt(offsets, start);
    const to = offsetAt(offsets, end);
    const count = end - start;
    if (this.end + (to - from) > 0x7fffffff) {
      throw new ValueError(
        `A column of one block may hold at most 2 GiB of text, bytes or list elements; this one would hold ${
          this.end + (to - from)
        }. Use smaller blocks (targetMaxBlockSize).`,
      );
    }
    const at = this.room(count);
    const target = this.scratch.words;
    const source = offsets.words;
    const delta = this.end - from;
    if (offsets.stride === 2) {
      for (let index = 0; index < count; index++)
        target[at + index] = (source[2 * (start + index + 1)] as number) + delta;
    } else if (delta === 0) {
      target.set(source.subarray(start + 1, end + 1), at);
    } else {
      for (let index = 0; index < count; index++) target[at + index] = (source[start + index + 1] as number) + delta;
    }
    this.length += count;
    this.end += to - from;
    return { from, to };
  }
  appendEmpty(count: number): void {
    const at = this.room(count);
    this.scratch.words.fill(this.end, at, at + count);
    this.length += count;
  }
  finish(large: boolean): Uint8Array {
    this.room(0);
    const bytes = this.byteLength;
    if (!large) return this.scratch.bytes.subarray(0, bytes);
    this.wide.reserve(bytes * 2, 0);
    const { words } = this.scratch;
    const target = this.wide.words;
    for (let index = 0; index <= this.length; index++) {
      target[2 * index] = words[index] as number;
      target[2 * index + 1] = 0;
    }
    return this.wide.bytes.subarray(0, bytes * 2);
  }
  private room(count: number): number {
    this.scratch.reserve((this.length + count + 1) * 4, this.length === 0 ? 0 : this.byteLength);
    if (this.length === 0) this.scratch.words[0] = 0;
    return this.length + 1;
  }
}

class BytesColumn implements ColumnBuilder {
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
  reset(): void {
    this.length = 0;
    this.validity.reset();
    this.offsets.reset();
  }
  append(vector: Vector, start: number, end: number): void {
    const at = this.offsets.end;
    const { from, to } = this.offsets.append(vector, this.large, start, end);
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

/** A column with columns inside, which may still be of the null type and widen. */
abstract class ParentColumn implements ColumnBuilder {
  length = 0;
  protected readonly validity = new ValidityBuilder();
  protected children: ColumnBuilder[];
  private fields: readonly Field[];

  constructor(private outer: DataType) {
    this.fields = childFields(outer);
    this.children = this.fields.map((field) => columnBuilder(field.type));
  }

  get type(): DataType {
    return this.outer;
  }
  get byteLength(): number {
    return this.children.reduce((sum, child) => sum + child.byteLength, this.validity.byteLength);
  }
  reset(): void {
    this.length = 0;
    this.validity.reset();
    for (const child of this.children) child.reset();
  }
  widen(type: DataType): void {
    const fields = childFields(type);
    this.children = this.children.map((child, index) => widened(child, fields[index]?.type ?? child.type));
    this.fields = fields;
    this.outer = withChildren(this.outer, fields);
  }
  append(vector: Vector, start: number, end: number): void {
    this.appendChildren(vector, start, end);
    this.validity.append(vector, start, end);
    this.length += end - start;
  }
  appendNulls(count: number): void {
    this.appendNullChildren(count);
    this.validity.appendNulls(count);
    this.length += count;
  }
  finish(): Vector {
    const { outer, length, validity } = this;
    const buffers = [validity.finish(), ...this.finishOffsets()];
    const children = this.children.map((child) => child.finish());
    return { type: outer, length, nullCount: validity.nullCount, offset: 0, buffers, children, dictionary: null };
  }
  protected appendChild(index: number, vector: Vector, from: number, to: number): void {
    const builder = this.children[index];
    const child = vector.children[index];
    if (builder !== undefined && child !== undefined) appendVector(builder, child, from, to);
  }
  protected abstract appendChildren(vector: Vector, start: number, end: number): void;
  protected abstract appendNullChildren(count: number): void;
  protected abstract finishOffsets(): Uint8Array[];
}

class ListColumn extends ParentColumn {
  private readonly offsets = new OffsetsBuilder();
  constructor(
    type: DataType,
    private readonly large: boolean,
  ) {
    super(type);
  }
  override get byteLength(): number {
    return super.byteLength + this.offsets.byteLength * (this.large ? 2 : 1);
  }
  override reset(): void {
    super.reset();
    this.offsets.reset();
  }
  protected appendChildren(vector: Vector, start: number, end: number): void {
    const { from, to } = this.offsets.append(vector, this.large, start, end);
    this.appendChild(0, vector, from, to);
  }
  protected appendNullChildren(count: number): void {
    this.offsets.appendEmpty(count);
  }
  protected finishOffsets(): Uint8Array[] {
    return [this.offsets.finish(this.large)];
  }
}

class FixedListColumn extends ParentColumn {
  constructor(
    type: DataType,
    private readonly size: number,
  ) {
    super(type);
  }
  protected appendChildren(vector: Vector, start: number, end: number): void {
    this.appendChild(0, vector, (vector.offset + start) * this.size, (vector.offset + end) * this.size);
  }
  protected appendNullChildren(count: number): void {
    for (const child of this.children) child.appendNulls(count * this.size);
  }
  protected finishOffsets(): Uint8Array[] {
    return [];
  }
}

class StructColumn extends ParentColumn {
  protected appendChildren(vector: Vector, start: number, end: number): void {
    for (let index = 0; index < this.children.length; index++) {
      this.appendChild(index, vector, vector.offset + start, vector.offset + end);
    }
  }
  protected appendNullChildren(count: number): void {
    for (const child of this.children) child.appendNulls(count);
  }
  protected finishOffsets(): Uint8Array[] {
    return [];
  }
}
