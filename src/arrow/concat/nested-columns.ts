/** Columns with columns inside: the children grow together with their parent. */
import { childFields, withChildren } from "../layout.ts";
import type { DataType, Field, Vector } from "../types.ts";
import { appendVector, type ColumnBuilder, columnBuilder, paddedWith, widened } from "./column-builder.ts";
import { OffsetsBuilder, rangeOf } from "./offsets.ts";
import { ValidityBuilder } from "./validity.ts";

/** A column with columns inside. Its type may still contain the null type, and widen. */
export abstract class ParentColumn implements ColumnBuilder {
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
  paddedWith(vector: Vector, start: number, end: number): number {
    return this.validity.paddedWith(vector, start, end) + this.paddedChildrenWith(vector, start, end);
  }
  paddedBy(count: number, someNull: boolean): number {
    return this.validity.paddedBy(count, someNull) + this.paddedChildrenBy(count);
  }
  reset(): void {
    this.length = 0;
    this.validity.reset();
    for (const child of this.children) child.reset();
  }
  release(): void {
    this.length = 0;
    this.validity.release();
    for (const child of this.children) child.release();
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
  protected paddedChild(index: number, vector: Vector, from: number, to: number): number {
    const builder = this.children[index];
    const child = vector.children[index];
    return builder === undefined || child === undefined ? 0 : paddedWith(builder, child, from, to);
  }
  protected abstract paddedChildrenWith(vector: Vector, start: number, end: number): number;
  /** Bytes of the children for this many nulls. */
  protected abstract paddedChildrenBy(count: number): number;
  protected abstract appendChildren(vector: Vector, start: number, end: number): void;
  protected abstract appendNullChildren(count: number): void;
  protected abstract finishOffsets(): Uint8Array[];
}

export class ListColumn extends ParentColumn {
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
  override release(): void {
    super.release();
    this.offsets.release();
  }
  protected paddedChildrenWith(vector: Vector, start: number, end: number): number {
    const { from, to } = rangeOf(vector, start, end);
    return this.offsets.paddedBy(end - start, this.large) + this.paddedChild(0, vector, from, to);
  }
  protected paddedChildrenBy(count: number): number {
    const held = this.children.reduce((sum, child) => sum + child.paddedBy(0, false, 0), 0);
    return this.offsets.paddedBy(count, this.large) + held;
  }
  protected appendChildren(vector: Vector, start: number, end: number): void {
    const { from, to } = this.offsets.append(vector, start, end);
    this.appendChild(0, vector, from, to);
  }
  protected appendNullChildren(count: number): void {
    this.offsets.appendEmpty(count);
  }
  protected finishOffsets(): Uint8Array[] {
    return [this.offsets.finish(this.large)];
  }
}

export class FixedListColumn extends ParentColumn {
  constructor(
    type: DataType,
    private readonly size: number,
  ) {
    super(type);
  }
  protected paddedChildrenWith(vector: Vector, start: number, end: number): number {
    return this.paddedChild(0, vector, (vector.offset + start) * this.size, (vector.offset + end) * this.size);
  }
  protected paddedChildrenBy(count: number): number {
    return this.children.reduce((sum, child) => sum + child.paddedBy(count * this.size, count > 0, 0), 0);
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

export class StructColumn extends ParentColumn {
  protected paddedChildrenWith(vector: Vector, start: number, end: number): number {
    let bytes = 0;
    for (let index = 0; index < this.children.length; index++) {
      bytes += this.paddedChild(index, vector, vector.offset + start, vector.offset + end);
    }
    return bytes;
  }
  protected paddedChildrenBy(count: number): number {
    return this.children.reduce((sum, child) => sum + child.paddedBy(count, count > 0, 0), 0);
  }
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
