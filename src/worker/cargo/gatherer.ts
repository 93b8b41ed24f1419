/**
 * Puts cargo in the place of references, in bounded pieces: rows of a megabyte come a few at a time. Where cargo is
 * on disk, the rows of a piece are read in the order of their places there, and then brought into their own.
 */
import {
  appendVector,
  type ColumnBuilder,
  columnBuilder,
  type Field,
  type RecordBatch,
  type Schema,
  sliceBatch,
  takeBatch,
  type Vector,
} from "../../arrow/index.ts";
import type { Cargo } from "./cargo.ts";
import { NO_ROW, referredColumn } from "./references.ts";

/** A piece has no more cargo, unless it is one row. */
const PIECE_BYTES = 4 << 20;

interface Gathered {
  /** Its position among the columns, and its number in the cargo. */
  readonly index: number;
  readonly number: number;
  readonly field: Field;
  readonly builder: ColumnBuilder;
}

export class Gatherer {
  /** The schema of what is gathered. */
  readonly schema: Schema;
  readonly #columns: readonly Gathered[];

  /** `wants`: whether a cargo column is gathered; references to others stay. */
  constructor(
    { fields }: Schema,
    private readonly cargo: Cargo,
    wants: (column: number) => boolean = () => true,
  ) {
    this.#columns = fields.flatMap((field, index) => {
      const number = referredColumn(field.type);
      if (number === null || !wants(number)) return [];
      const type = cargo.typeOf(number);
      return [{ index, number, field: { ...field, type }, builder: columnBuilder(type) }];
    });
    const byIndex = new Map(this.#columns.map(({ index, field }) => [index, field]));
    this.schema = { fields: fields.map((field, index) => byIndex.get(index) ?? field) };
  }

  /** Nothing refers to cargo. */
  get isIdle(): boolean {
    return this.#columns.length === 0;
  }

  /** The rows in pieces, each borrowed until the next one is asked for. */
  *pieces(batch: RecordBatch): Generator<RecordBatch, void, undefined> {
    const rows = this.#columns.map(({ index, number }) => this.cargo.rowsOf(batch.columns[index] as Vector, number));
    for (let start = 0; start < batch.length; ) {
      const end = this.#pieceEnd(rows, start, batch.length);
      yield this.#piece(sliceBatch(batch, start, end), rows, start);
      start = end;
    }
  }

  #pieceEnd(rows: readonly Float64Array[], start: number, end: number): number {
    let bytes = 0;
    for (let at = start; at < end; at++) {
      for (const [i, column] of rows.entries()) {
        const row = column[at] as number;
        // The columns of one table mostly refer to the same row.
        if (row !== NO_ROW && row !== rows[i - 1]?.[at]) bytes += this.cargo.bytesOf(row);
      }
      if (bytes > PIECE_BYTES) return Math.max(start + 1, at);
    }
    return end;
  }

  #piece(slice: RecordBatch, rows: readonly Float64Array[], start: number): RecordBatch {
    const { length } = slice;
    const columns = [...slice.columns];
    for (const group of groups(rows.map((column) => column.subarray(start, start + length)))) {
      const order = this.cargo.isOnDisk ? ascending(group.rows) : null;
      const gathered = group.members.flatMap((member) => this.#columns[member] ?? []);
      for (const { builder } of gathered) builder.reset();
      for (let at = 0; at < length; at++) {
        const row = group.rows[order === null ? at : (order[at] as number)] as number;
        for (const { builder, number } of gathered) this.#append(builder, row, number);
      }
      const places = order === null ? null : inverse(order);
      for (const { builder, index, field } of gathered) {
        const vector = builder.finish();
        columns[index] = places === null ? vector : taken(vector, field, places);
      }
    }
    return { schema: this.schema, length, columns };
  }

  #append(builder: ColumnBuilder, row: number, number: number): void {
    if (row === NO_ROW) {
      builder.appendNulls(1);
      return;
    }
    const { vector, index } = this.cargo.value(row, number);
    appendVector(builder, vector, index, index + 1);
  }
}

interface Group {
  readonly members: number[];
  readonly rows: Float64Array;
}

/** Columns that refer to the same rows, so that each row is read once. */
function groups(columns: readonly Float64Array[]): readonly Group[] {
  const found: Group[] = [];
  for (const [member, rows] of columns.entries()) {
    const group = found.find((each) => agree(each.rows, rows));
    if (group === undefined) found.push({ members: [member], rows });
    else group.members.push(member);
  }
  return found;
}

function agree(a: Float64Array, b: Float64Array): boolean {
  return a.every((row, at) => row === b[at]);
}

function ascending(rows: Float64Array): Int32Array {
  const order = Int32Array.from(rows, (_, at) => at);
  return order.sort((a, b) => (rows[a] as number) - (rows[b] as number) || a - b);
}

function inverse(order: Int32Array): Int32Array {
  const places = new Int32Array(order.length);
  for (let at = 0; at < order.length; at++) places[order[at] as number] = at;
  return places;
}

function taken(vector: Vector, field: Field, places: Int32Array): Vector {
  const batch = { schema: { fields: [field] }, length: vector.length, columns: [vector] };
  const [column = vector] = takeBatch(batch, places).columns;
  return column;
}
