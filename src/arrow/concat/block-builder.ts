/**
 * Combines small borrowed batches into one large batch. The memory is scratch memory: a finished batch is valid until
 * the next append, and its owner has to write it away before.
 */
import { RowShapeError, ValueError } from "../../errors/index.ts";
import { frameLength } from "../ipc/block.ts";
import { columnOrder, plainSchema, schemaEquals, typeEquals, unifySchemas, unifyTypes } from "../schema.ts";
import { typeName } from "../typename.ts";
import type { DataType, RecordBatch, Schema } from "../types.ts";
import { appendVector, type ColumnBuilder, columnBuilder, paddedWith, widened } from "./column-builder.ts";

export class BlockBuilder {
  private schema: Schema | null = null;
  private columns: ColumnBuilder[] = [];
  /** Columns from before `clear`, kept for their memory. */
  private spare: readonly ColumnBuilder[] = [];
  /** The position of each column in the batches of `seen`. */
  private order: readonly number[] = [];
  private seen: Schema | null = null;
  private length = 0;
  private bytes = 0;
  private frame = 0;
  private finished = false;

  get rows(): number {
    return this.finished ? 0 : this.length;
  }

  /** Bytes of the values, offsets and bitmaps in it. */
  get byteLength(): number {
    return this.finished ? 0 : this.bytes;
  }

  /**
   * Copies rows [start, end) of a batch. If they do not fit the rows before, it throws RowShapeError and takes nothing.
   */
  append(batch: RecordBatch, start = 0, end = batch.length): void {
    this.admit(batch.schema);
    if (end <= start) return;
    let bytes = 0;
    for (let index = 0; index < this.columns.length; index++) {
      const builder = this.columns[index];
      const vector = batch.columns[this.order[index] ?? index];
      if (builder === undefined || vector === undefined) throw this.torn(batch);
      appendVector(builder, vector, start, end);
      bytes += builder.byteLength;
    }
    this.bytes = bytes;
    this.length += end - start;
  }

  /** Bytes of a block without rows, not counting the padding of its columns. */
  get frameLength(): number {
    return this.frame;
  }

  /** Length of the block (see planBlock) of the rows in it. */
  get blockLength(): number {
    let bytes = this.frame;
    if (!this.finished) for (const column of this.columns) bytes += column.paddedBy(0, false, 0);
    return bytes;
  }

  /**
   * Length of the block of the rows in it and rows [start, end) of a batch, computed before anything is copied. Already
   * takes on the batch's columns. Throws like `append`.
   */
  blockLengthWith(batch: RecordBatch, start: number, end: number): number {
    this.admit(batch.schema);
    let bytes = this.frame;
    for (let index = 0; index < this.columns.length; index++) {
      const builder = this.columns[index];
      const vector = batch.columns[this.order[index] ?? index];
      if (builder === undefined || vector === undefined) throw this.torn(batch);
      bytes += paddedWith(builder, vector, start, end);
    }
    return bytes;
  }

  /** What was appended, borrowed until the next append; null if nothing was (not even an empty batch). */
  finish(): RecordBatch | null {
    if (this.finished || this.schema === null) return null;
    this.finished = true;
    return { schema: this.schema, length: this.length, columns: this.columns.map((column) => column.finish()) };
  }

  /** Forgets rows and columns but keeps the memory, as if the builder were new. */
  clear(): void {
    if (this.columns.length > 0) this.spare = this.columns;
    this.schema = null;
    this.seen = null;
    this.columns = [];
    this.restart();
  }

  /** Forgets everything. Other builders reuse the memory, so what was finished here must not be read any more. */
  release(): void {
    this.clear();
    for (const column of this.spare) column.release();
    this.spare = [];
  }

  private restart(): void {
    for (const column of this.columns) column.reset();
    this.length = 0;
    this.bytes = 0;
    this.finished = false;
  }

  private column(index: number, type: DataType): ColumnBuilder {
    const spare = this.spare[index];
    if (spare === undefined || !typeEquals(spare.type, type)) return columnBuilder(type);
    spare.reset();
    return spare;
  }

  private admit(incoming: Schema): void {
    if (this.finished) this.restart();
    if (incoming !== this.seen) this.widen(incoming);
  }

  private torn(batch: RecordBatch): ValueError {
    return new ValueError(`A batch has ${batch.columns.length} columns, its schema ${this.columns.length}.`);
  }

  private widen(incoming: Schema): void {
    const before = this.schema;
    if (this.schema === null) {
      this.schema = plainSchema(incoming);
      this.columns = this.schema.fields.map((field, index) => this.column(index, field.type));
      this.spare = [];
      this.order = this.schema.fields.map((_, index) => index);
    } else {
      const unified = unifySchemas(this.schema, incoming);
      const order = columnOrder(this.schema, incoming);
      if (unified === null || order === null) throw mismatch(this.schema, incoming);
      // Keeps the same object as long as nothing changes, because other code keeps results by schema object.
      const known = this.schema.fields;
      const nullable = unified.fields.some((field, index) => field.nullable !== known[index]?.nullable);
      if (nullable || !schemaEquals(unified, this.schema)) {
        this.schema = unified;
        this.columns = this.columns.map((column, index) => widened(column, unified.fields[index]?.type ?? column.type));
      }
      this.order = order;
    }
    if (this.schema !== before) this.frame = frameLength(this.schema);
    this.seen = incoming;
  }
}

export function mismatch(have: Schema, incoming: Schema): RowShapeError {
  const names = new Map(incoming.fields.map((field) => [field.name, field]));
  for (const field of have.fields) {
    const other = names.get(field.name);
    if (other === undefined) {
      return new RowShapeError(
        `Column "${field.name}" is missing in a later batch, which has: ${[...names.keys()].join(", ") || "none"}.`,
        field.name,
      );
    }
    if (unifyTypes(field.type, other.type) === null) {
      return new RowShapeError(
        `Column "${field.name}" is ${typeName(field.type)} in one batch and ${typeName(other.type)} in a later one. ` +
          `Return one type always, or declare it: schema: { "${field.name}": "${typeName(field.type)}" }.`,
        field.name,
      );
    }
    names.delete(field.name);
  }
  const [extra] = names.keys();
  return new RowShapeError(
    `Column "${extra ?? ""}" is in a later batch and not in the first, which has: ${have.fields
      .map((field) => field.name)
      .join(", ")}.`,
    extra ?? null,
  );
}

/** One batch of all the rows, in memory of its own. */
export function concatBatches(batches: readonly RecordBatch[]): RecordBatch {
  const builder = new BlockBuilder();
  for (const batch of batches) builder.append(batch);
  const whole = builder.finish();
  if (whole === null) throw new ValueError("concatBatches needs at least one batch: without any there is no schema.");
  return whole;
}
