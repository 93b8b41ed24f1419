/**
 * A column that is assembled from pieces of other columns: offsets are rebased, bitmaps shifted, children appended with
 * their parent. A source has the builder's type, or is a dictionary of it, or has the null type. BlockBuilder checks
 * schemas.
 */
import { ValueError } from "../../errors/index.ts";
import { layoutOf } from "../layout.ts";
import type { DataType, Vector } from "../types.ts";
import { sliceVector } from "../vector.ts";
import { decodeDictionary, decodedExtent } from "./dictionary.ts";
import { BitColumn, BytesColumn, FixedColumn, NullColumn } from "./leaf-columns.ts";
import { FixedListColumn, ListColumn, ParentColumn, StructColumn } from "./nested-columns.ts";

export interface ColumnBuilder {
  readonly type: DataType;
  readonly length: number;
  readonly byteLength: number;
  /** Bytes that the column's buffers would take in a block, including padding, after appending rows [start, end). */
  paddedWith(vector: Vector, start: number, end: number): number;
  /** The same for values that are not available: `bytes` of text or bytes in total; `someNull`: some may be null. */
  paddedBy(count: number, someNull: boolean, bytes: number): number;
  /** Forgets the values but keeps the memory. */
  reset(): void;
  /** Forgets the values and gives the memory away: what `finish` returned is invalid from here on. */
  release(): void;
  append(vector: Vector, start: number, end: number): void;
  appendNulls(count: number): void;
  /** Views of the scratch memory, valid until the next append. */
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

/** Appends rows of a vector of any kind that the builder can take. */
export function appendVector(builder: ColumnBuilder, vector: Vector, start: number, end: number): void {
  if (end <= start) return;
  if (vector.type.kind === "null") builder.appendNulls(end - start);
  else if (vector.type.kind === "dictionary") {
    builder.append(decodeDictionary(sliceVector(vector, start, end)), 0, end - start);
  } else builder.append(vector, start, end);
}

/** `paddedWith` for a vector of any kind that the builder can take. */
export function paddedWith(builder: ColumnBuilder, vector: Vector, start: number, end: number): number {
  if (vector.type.kind === "null") return builder.paddedBy(end - start, end > start, 0);
  if (vector.type.kind !== "dictionary") return builder.paddedWith(vector, start, end);
  const slice = sliceVector(vector, start, end);
  if (builder instanceof ParentColumn) return builder.paddedWith(decodeDictionary(slice), 0, slice.length);
  const { nulls, bytes } = decodedExtent(slice);
  return builder.paddedBy(slice.length, nulls > 0, bytes);
}

/** The builder for a type that the builder's own type was widened to: a null type somewhere inside got a type. */
export function widened(builder: ColumnBuilder, type: DataType): ColumnBuilder {
  if (builder.type.kind === "null" && type.kind !== "null") {
    const fresh = columnBuilder(type);
    fresh.appendNulls(builder.length);
    return fresh;
  }
  if (builder instanceof ParentColumn) builder.widen(type);
  return builder;
}
