/**
 * One column of a result. It copies the data of an ArrowArray into the stream's scratch memory and shows it as a
 * Vector. The Vector and its views are the same for every chunk, until a text or list column outgrows its place.
 */
import { childFields, type DataType, layoutOf, type Vector } from "../arrow/index.ts";
import { KernelError } from "../errors/index.ts";
import { copy } from "../native/index.ts";
import { ARRAY, Cells } from "./cells.ts";
import type { Scratch, Slot } from "./scratch.ts";

/** A guess that fits most text columns. A column that needs more gets twice as much. */
const TEXT_BYTES_PER_ROW = 16;
const LONGEST_POINTERS = 3;

interface ReusedVector extends Vector {
  length: number;
  nullCount: number;
  readonly buffers: (Uint8Array | null)[];
}

type ReadData = (column: ColumnOut, rows: number) => void;

export class ColumnOut {
  readonly vector: ReusedVector;
  readonly children: readonly ColumnOut[];
  readonly cells: Cells;
  readonly scratch: Scratch;
  readonly #slots: (Slot | null)[];
  readonly #readData: ReadData;
  readonly #bufferCount: number;

  constructor(
    type: DataType,
    scratch: Scratch,
    /** How many rows most chunks have. */
    private readonly usualRows: number,
  ) {
    const layout = reader(type);
    this.scratch = scratch;
    this.children = childFields(type).map((field) => new ColumnOut(field.type, scratch, usualRows));
    this.cells = new Cells(ARRAY.size + LONGEST_POINTERS + this.children.length);
    this.#readData = layout.read;
    this.#bufferCount = layout.buffers;
    this.#slots = Array<Slot | null>(layout.buffers).fill(null);
    this.vector = {
      type,
      length: 0,
      nullCount: 0,
      offset: 0,
      buffers: Array<Uint8Array | null>(layout.buffers).fill(null),
      children: this.children.map((child) => child.vector),
      dictionary: null,
    };
  }

  /** Reads the ArrowArray at an address. */
  read(address: number): void {
    const { cells, vector } = this;
    cells.load(0, address, ARRAY.size);
    const rows = cells.get(ARRAY.length);
    const nulls = cells.get(ARRAY.nullCount);
    if (cells.get(ARRAY.childCount) !== this.children.length || cells.get(ARRAY.offset) !== 0) {
      throw new KernelError(`A result column of type ${vector.type.kind} has another shape than its type.`, "Internal");
    }
    vector.length = rows;
    if (this.#bufferCount === 0) {
      vector.nullCount = rows;
      return;
    }
    cells.load(ARRAY.size, cells.get(ARRAY.buffers), this.#bufferCount);
    vector.nullCount = nulls;
    if (nulls === 0) vector.buffers[0] = null;
    else this.copyBuffer(0, (rows + 7) >>> 3);
    this.#readData(this, rows);
  }

  /** Copies the first bytes of a buffer into its place. */
  copyBuffer(index: number, length: number): Uint8Array {
    let slot = this.#slots[index] ?? null;
    if (slot === null || slot.bytes.length < length) {
      slot = this.scratch.take(slot === null ? Math.max(length, this.#usual(index)) : 2 * length);
      this.#slots[index] = slot;
    }
    copy(slot.address, this.cells.get(ARRAY.size + index), length);
    this.vector.buffers[index] = slot.bytes;
    return slot.bytes;
  }

  #usual(index: number): number {
    const { usualRows } = this;
    const layout = layoutOf(this.vector.type);
    if (index === 0 || layout.kind === "bits") return usualRows / 8;
    if (layout.kind === "fixed") return usualRows * layout.width;
    return index === 1 ? (usualRows + 1) * 4 : usualRows * TEXT_BYTES_PER_ROW;
  }

  readChildren(): void {
    const { cells, children } = this;
    const first = ARRAY.size + LONGEST_POINTERS;
    cells.load(first, cells.get(ARRAY.children), children.length);
    for (let index = 0; index < children.length; index++) children[index]?.read(cells.get(first + index));
  }
}

/** How many buffers a type has, including validity, and how the other buffers and the children are read. */
function reader(type: DataType): { readonly buffers: number; readonly read: ReadData } {
  const layout = layoutOf(type);
  switch (layout.kind) {
    case "none":
      return { buffers: 0, read: () => {} };
    case "bits":
      return { buffers: 2, read: (column, rows) => void column.copyBuffer(1, (rows + 7) >>> 3) };
    case "fixed": {
      const { width } = layout;
      return { buffers: 2, read: (column, rows) => void column.copyBuffer(1, rows * width) };
    }
    case "bytes":
      return {
        buffers: 3,
        read: (column, rows) => {
          const offsets = column.copyBuffer(1, (rows + 1) * 4);
          column.copyBuffer(2, offsetAt(offsets, rows));
        },
      };
    case "list":
      return {
        buffers: 2,
        read: (column, rows) => {
          column.copyBuffer(1, (rows + 1) * 4);
          column.readChildren();
        },
      };
    case "fixedList":
    case "struct":
      return { buffers: 1, read: (column) => column.readChildren() };
    case "dictionary":
      throw new KernelError("A result column may not be dictionary encoded.", "Internal");
  }
}

/** The offset at an index, read without making a view. */
function offsetAt(offsets: Uint8Array, index: number): number {
  const at = 4 * index;
  return (
    ((offsets[at] ?? 0) | ((offsets[at + 1] ?? 0) << 8) | ((offsets[at + 2] ?? 0) << 16)) +
    (offsets[at + 3] ?? 0) * 16777216
  );
}
