/**
 * Batches as functions see them: one array a column, exactly `batchSize` rows, assembled across incoming batches.
 * Everything handed out is a copy in fresh memory, which the function may keep.
 */
import { ValueError } from "../../errors/index.ts";
import { countOnes } from "../bitmap.ts";
import { sameColumns, typeEquals } from "../schema.ts";
import type { Columns, ColumnValues, DataType, RecordBatch, Schema, ValueOptions, Vector } from "../types.ts";
import { emptyVector, validityOf } from "../vector.ts";
import { type NumericArray, type NumericColumn, numericColumn } from "./numeric-column.ts";
import { type ValueReader, valueReader } from "./value-reader.ts";

/**
 * Batches up to this size get their arrays at once; those of larger ones (perhaps larger than the data) grow with the
 * rows.
 */
const EAGER_ROWS = 1 << 19;

/**
 * One column of the batch that is being filled. Numbers start as a typed array; the first null turns it into a plain
 * array.
 */
class ColumnFiller {
  private numeric: NumericColumn | null;
  private reader: ValueReader;
  private numbers: NumericArray | null = null;
  private values: unknown[] | null = null;
  private vector: Vector;
  private isBound = false;

  constructor(
    private type: DataType,
    private readonly options: ValueOptions,
    private readonly name: string,
  ) {
    this.numeric = numericColumn(type, options, name);
    this.reader = valueReader(type, options, name);
    this.vector = emptyVector(type);
  }

  load(vector: Vector): void {
    if (vector.type !== this.type && !typeEquals(vector.type, this.type)) this.adapt(vector.type);
    this.vector = vector;
    this.isBound = false;
  }

  /** From here on the column has another type (a dictionary, nulls of no type). */
  private adapt(type: DataType): void {
    this.values ??= this.numbers === null ? null : Array.from<unknown>(this.numbers);
    this.numbers = null;
    this.type = type;
    this.numeric = numericColumn(type, this.options, this.name);
    this.reader = valueReader(type, this.options, this.name);
  }

  /** Copies rows [from, to) to position `at` of a batch of `size`. */
  take(size: number, at: number, from: number, to: number): void {
    if (this.numeric !== null && this.values === null && !this.hasNulls(from, to)) {
      this.numeric.copy(this.room(this.numeric, size, at, at + to - from), at, this.vector, from, to);
      return;
    }
    if (this.values === null) {
      this.values = size <= EAGER_ROWS ? new Array<unknown>(size) : [];
      for (let index = 0; index < at; index++) this.values[index] = this.numbers?.[index] ?? null;
      this.numbers = null;
    }
    if (!this.isBound) {
      this.reader.bind(this.vector);
      this.isBound = true;
    }
    this.reader.fill(this.values, at, from, to);
  }

  /** The first `length` rows of what was filled. The next batch starts empty. */
  release(length: number): ColumnValues {
    const whole = this.numbers ?? this.values ?? this.numeric?.allocate(0) ?? [];
    this.numbers = null;
    this.values = null;
    // Copied for a short last batch: a subarray would show more rows through its buffer.
    return whole.length === length ? whole : whole.slice(0, length);
  }

  /** The typed array, with room for `needed` values; the first `used` are kept. */
  private room(numeric: NumericColumn, size: number, used: number, needed: number): NumericArray {
    const before = this.numbers;
    if (before !== null && before.length >= needed) return before;
    const grown = size <= EAGER_ROWS ? size : Math.min(size, Math.max(needed, EAGER_ROWS, 2 * used));
    const after = numeric.allocate(grown);
    // Both arrays are of the same column, but TypeScript cannot know that their element types agree.
    if (before !== null) (after as Float64Array).set((before as Float64Array).subarray(0, used));
    this.numbers = after;
    return after;
  }

  private hasNulls(from: number, to: number): boolean {
    const validity = validityOf(this.vector);
    return validity !== null && countOnes(validity, this.vector.offset + from, to - from) < to - from;
  }
}

function namedColumns(schema: Schema, fillers: readonly ColumnFiller[], length: number): Columns {
  const columns: Columns = {};
  for (const [index, field] of schema.fields.entries()) {
    const value = fillers[index]?.release(length) ?? [];
    if (field.name === "__proto__") {
      Object.defineProperty(columns, field.name, { value, enumerable: true, writable: true, configurable: true });
    } else columns[field.name] = value;
  }
  return columns;
}

/**
 * `push` a batch, then call `next` until it returns null: then all of the batch has been copied, and it may be freed.
 * `flush` returns the short batch that is left at the end.
 */
export class ColumnAssembler {
  private readonly fillers: readonly ColumnFiller[];
  private batch: RecordBatch | null = null;
  /** Rows of `batch` that were already taken. */
  private taken = 0;
  /** Rows in the batch being filled. */
  private filled = 0;
  private seen: Schema;
  /** The position of each column in the batches of `seen`. */
  private order: readonly number[] = [];

  constructor(
    private readonly schema: Schema,
    options: ValueOptions,
    private readonly batchSize: number,
  ) {
    if (!Number.isSafeInteger(batchSize) || batchSize < 1) {
      throw new ValueError(`batchSize must be a positive integer, not ${batchSize}.`);
    }
    this.seen = schema;
    this.fillers = schema.fields.map((field) => new ColumnFiller(field.type, options, field.name));
  }

  /** Rows of the batch that is being filled. */
  get rows(): number {
    return this.filled;
  }

  /** Borrows the batch until `next` returns null. */
  push(batch: RecordBatch): void {
    if (this.batch !== null && this.taken < this.batch.length) {
      throw new ValueError("push before next() gave null: rows of the batch before would be lost.");
    }
    if (batch.schema !== this.seen) {
      this.order = sameColumns(this.schema, batch.schema);
      this.seen = batch.schema;
    }
    this.batch = batch;
    this.taken = 0;
    for (let index = 0; index < this.fillers.length; index++) {
      const column = batch.columns[this.order[index] ?? index];
      if (column !== undefined) this.fillers[index]?.load(column);
    }
  }

  /** A full batch; null if the rows pushed so far do not fill one. */
  next(): Columns | null {
    const { batch, batchSize } = this;
    if (batch === null) return null;
    const count = Math.min(batch.length - this.taken, batchSize - this.filled);
    if (count > 0) {
      for (const filler of this.fillers) filler.take(batchSize, this.filled, this.taken, this.taken + count);
      this.taken += count;
      this.filled += count;
    }
    if (this.taken === batch.length) this.batch = null;
    if (this.filled < batchSize) return null;
    this.filled = 0;
    return namedColumns(this.schema, this.fillers, batchSize);
  }

  /** The remaining rows, fewer than batchSize; null if there are none. */
  flush(): Columns | null {
    if (this.batch !== null) throw new ValueError("flush before next() gave null: rows would be lost.");
    const length = this.filled;
    if (length === 0) return null;
    this.filled = 0;
    return namedColumns(this.schema, this.fillers, length);
  }
}

/**
 * Stretches of batches of one schema as columns of exactly that length. Suited to many short stretches, because only
 * what is handed out is allocated.
 */
export class ColumnSlicer {
  private readonly fillers: readonly ColumnFiller[];

  constructor(
    private readonly schema: Schema,
    options: ValueOptions,
  ) {
    this.fillers = schema.fields.map((field) => new ColumnFiller(field.type, options, field.name));
  }

  /** Borrows the batch until the next one. */
  load(batch: RecordBatch): void {
    for (const [index, filler] of this.fillers.entries()) {
      const column = batch.columns[index];
      if (column !== undefined) filler.load(column);
    }
  }

  slice(from: number, to: number): Columns {
    for (const filler of this.fillers) filler.take(to - from, 0, from, to);
    return namedColumns(this.schema, this.fillers, to - from);
  }
}

/** All rows of a batch at once. */
export function toColumns(batch: RecordBatch, options: ValueOptions = {}): Columns {
  const fillers = batch.schema.fields.map((field, index) => {
    const filler = new ColumnFiller(field.type, options, field.name);
    const column = batch.columns[index];
    if (column !== undefined && batch.length > 0) {
      filler.load(column);
      filler.take(batch.length, 0, 0, batch.length);
    }
    return filler;
  });
  return namedColumns(batch.schema, fillers, batch.length);
}
