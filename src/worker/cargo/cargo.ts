/** The cargo of a fed task: its rows, and the columns that were taken out of its tables, by number. */
import { bytesAt, type DataType, type RecordBatch, type Vector } from "../../arrow/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import { CargoStore } from "./cargo-store.ts";
import { NO_ROW, numbersIn, referencesTo } from "./references.ts";
import { Values } from "./values.ts";

/** The kernel has the rest of the lease for keys and references, which take far less than wide rows. */
const SHARE_OF_LEASE = 0.5;

/** Whether SQL only asks which values are equal, or also for their order. */
export type Compared = "equality" | "order";

export class Cargo {
  readonly #types: DataType[] = [];
  /** Of columns that SQL compares. References to them are numbers of values, the others are numbers of rows. */
  readonly #values = new Map<number, Values>();
  readonly #store: CargoStore;

  /** `lease`: what the kernel and the cargo may have together; null: no limit. */
  constructor(directory: string | null, operator: string, lease: Bytes | null) {
    this.#store = new CargoStore(directory, operator, shareOf(lease));
  }

  get rows(): number {
    return this.#store.rows;
  }

  get bytes(): Bytes {
    return this.#store.bytes;
  }

  get memory(): Bytes {
    let memory = this.#store.memory;
    for (const values of this.#values.values()) memory += values.memory;
    return memory;
  }

  get spilled(): Bytes {
    return this.#store.spilled;
  }

  keepWithin(lease: Bytes | null): void {
    this.#store.keepWithin(shareOf(lease));
  }

  /** The number of a new column. `compared`: what SQL does with its values. */
  column(type: DataType, compared: Compared | null): number {
    const column = this.#types.push(type) - 1;
    if (compared !== null) {
      const read = (row: number) => {
        const { vector, index } = this.value(row, column);
        return bytesAt(vector, index);
      };
      this.#values.set(column, new Values(read, compared === "order"));
    }
    return column;
  }

  typeOf(column: number): DataType {
    const type = this.#types[column];
    if (type === undefined) throw new Error(`there is no cargo column ${column}`);
    return type;
  }

  /** Keeps the columns, given by their numbers, and returns references to their values. */
  keep(columns: readonly (readonly [number, Vector])[], length: number): readonly Vector[] {
    const rows: RecordBatch = {
      schema: {
        fields: columns.map(([number, { type }]) => ({ name: String(number), type, nullable: true })),
      },
      length,
      columns: columns.map(([, vector]) => vector),
    };
    const first = this.#store.add(rows);
    return columns.map(([number, vector]) => {
      const values = this.#values.get(number);
      const numberOf = (row: number) => values?.numberOf(bytesAt(vector, row), first + row) ?? first + row;
      return referencesTo(vector, number, numberOf);
    });
  }

  /** The rows that references to a column refer to; `NO_ROW` for a null. */
  rowsOf(references: Vector, column: number): Float64Array {
    const numbers = numbersIn(references);
    const values = this.#values.get(column);
    return values === undefined
      ? numbers
      : numbers.map((number) => (number === NO_ROW ? number : values.rowOf(number)));
  }

  /** The rank of each number of the column, which stand for the numbers from now on; null: SQL does not order by it. */
  ranked(column: number): Uint32Array | null {
    const values = this.#values.get(column);
    return values?.isOrdered === true ? values.ranked() : null;
  }

  bytesOf(row: number): Bytes {
    return this.#store.bytesOf(row);
  }

  /** Whether rows that lie near each other are better read together. */
  get isOnDisk(): boolean {
    return this.#store.spilled > 0;
  }

  /** A value, as a row of a vector; borrowed until the next call. */
  value(row: number, column: number): { readonly vector: Vector; readonly index: number } {
    const { batch, index } = this.#store.row(row);
    const name = String(column);
    const vector = batch.columns[batch.schema.fields.findIndex((field) => field.name === name)];
    if (vector === undefined) throw new Error(`row ${row} has no cargo column ${column}`);
    return { vector, index };
  }

  close(): void {
    this.#store.close();
  }
}

function shareOf(lease: Bytes | null): Bytes | null {
  return lease === null ? null : lease * SHARE_OF_LEASE;
}
