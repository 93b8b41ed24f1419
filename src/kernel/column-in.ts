/**
 * A column on its way into DuckDB: the addresses of its buffers, and the ArrowArray structs that show 2,048 rows of it
 * at a time. Every array has offset 0, and the start is added to the pointers instead: DuckDB ignores offsets in some
 * places (a struct in a struct, a struct in a list, booleans at an odd offset).
 */
import { childFields, type DataType, layoutOf, type Vector } from "../arrow/index.ts";
import { KernelError } from "../errors/index.ts";
import { libraryC } from "../native/index.ts";
import { ARRAY, Cells } from "./cells.ts";
import { checkBuffers } from "./intake.ts";
import type { TableMemory } from "./table-memory.ts";

/** The addresses of a column's first value. `second` is the buffer that text offsets point into. */
export interface ColumnIn {
  readonly length: number;
  /** 0: the column has no nulls. */
  readonly validity: number;
  readonly first: number;
  readonly second: number;
  readonly children: readonly ColumnIn[];
}

/** A column of a batch. */
export function columnIn(vector: Vector, memory: TableMemory, name: string): ColumnIn {
  return partIn(vector, memory, name, vector.offset, vector.length);
}

/** `length` values from value `start` of the buffers. A struct's offset and length apply to its children, too. */
function partIn(vector: Vector, memory: TableMemory, name: string, start: number, length: number): ColumnIn {
  checkBuffers(vector, start, length, name);
  const layout = layoutOf(vector.type);
  const inner = (child: Vector, from: number, count: number) => partIn(child, memory, name, child.offset + from, count);
  const validity = vector.nullCount === 0 ? 0 : memory.placeBits(vector.buffers[0] ?? null, start, length);
  const data = vector.buffers[1] ?? null;
  const column = { length, validity, first: 0, second: 0, children: [] as readonly ColumnIn[] };
  switch (layout.kind) {
    case "none":
      return { ...column, validity: 0 };
    case "bits":
      return { ...column, first: memory.placeBits(data, start, length) };
    case "fixed":
      return { ...column, first: memory.place(data, start * layout.width, length * layout.width) };
    case "bytes": {
      const width = layout.large ? 8 : 4;
      const from = offsetAt(data, start, width);
      const to = offsetAt(data, start + length, width);
      const bytes = vector.buffers[2] ?? null;
      refuseBadOffsets(name, from, to, bytes?.byteLength ?? 0);
      return {
        ...column,
        first: memory.place(data, start * width, (length + 1) * width),
        second: memory.place(bytes, from, to - from) - from,
      };
    }
    case "list": {
      const width = layout.large ? 8 : 4;
      const [child] = vector.children;
      refuseBadOffsets(name, offsetAt(data, start, width), offsetAt(data, start + length, width), child?.length ?? 0);
      const first = memory.place(data, start * width, (length + 1) * width);
      return { ...column, first, children: vector.children.map((child) => inner(child, 0, child.length)) };
    }
    case "fixedList": {
      const { size } = layout;
      return { ...column, children: vector.children.map((child) => inner(child, start * size, length * size)) };
    }
    case "struct":
      return { ...column, children: vector.children.map((child) => inner(child, start, length)) };
    case "dictionary":
      throw new KernelError("Dictionaries are decoded before they are handed over.", "Internal");
  }
}

/** A column of the type without values, to ask DuckDB which type it makes of it. */
export function nothingIn(type: DataType, place: number): ColumnIn {
  const children = childFields(type).map((field) => nothingIn(field.type, place));
  return { length: 0, validity: 0, first: place, second: place, children };
}

function offsetAt(offsets: Uint8Array | null, index: number, width: 4 | 8): number {
  if (offsets === null || offsets.byteLength < (index + 1) * width) return 0;
  const view = new DataView(offsets.buffer, offsets.byteOffset, offsets.byteLength);
  const low = view.getUint32(index * width, true);
  return width === 4 ? low : low + view.getUint32(index * width + 4, true) * 2 ** 32;
}

function refuseBadOffsets(name: string, from: number, to: number, size: number): void {
  if (from <= to && to <= size) return;
  throw new KernelError(
    `Column "${name}": offsets ${from} to ${to} do not fit its ${size} values. The Arrow data is damaged.`,
    "Arrow",
  );
}

interface Node {
  readonly kind: ReturnType<typeof layoutOf>["kind"];
  /** Bytes a row in the first buffer; for a fixed-size list, values a row. */
  readonly width: number;
  readonly cell: number;
  readonly buffers: number;
  readonly children: readonly Node[];
}

const BUFFERS = { none: 0, bits: 2, fixed: 2, bytes: 3, list: 2, fixedList: 1, struct: 1, dictionary: 2 } as const;

function widthOf(type: DataType): number {
  const layout = layoutOf(type);
  switch (layout.kind) {
    case "fixed":
      return layout.width;
    case "bytes":
    case "list":
      return layout.large ? 8 : 4;
    case "fixedList":
      return layout.size;
    default:
      return 0;
  }
}

/** DuckDB calls this function to release an array. It must be C code, and it has nothing to do. */
let releaseNothing = 0;
export function harmlessRelease(): number {
  if (releaseNothing === 0) releaseNothing = libraryC().symbol("labs");
  return releaseNothing;
}

/** The ArrowArray of a struct of columns and of everything inside it, rewritten for every slice. */
export class ArrayIn {
  readonly #cells: Cells;
  readonly #columns: readonly Node[];

  constructor(types: readonly DataType[]) {
    let next = ARRAY.size + 1 + types.length;
    const place = (type: DataType): Node => {
      const { kind } = layoutOf(type);
      const fields = childFields(type);
      const node = { kind, width: widthOf(type), cell: next, buffers: next + ARRAY.size };
      next += ARRAY.size + BUFFERS[kind] + fields.length;
      return { ...node, children: fields.map((field) => place(field.type)) };
    };
    this.#columns = types.map(place);
    this.#cells = new Cells(next);
    this.#describe({ kind: "struct", width: 0, cell: 0, buffers: ARRAY.size, children: this.#columns });
  }

  get address(): number {
    return this.#cells.address;
  }

  #describe(node: Node): void {
    const cells = this.#cells;
    const children = node.buffers + BUFFERS[node.kind];
    cells.set(node.cell + ARRAY.bufferCount, BUFFERS[node.kind]);
    cells.set(node.cell + ARRAY.buffers, cells.at(node.buffers));
    cells.set(node.cell + ARRAY.childCount, node.children.length);
    cells.set(node.cell + ARRAY.children, cells.at(children));
    cells.set(node.cell + ARRAY.release, harmlessRelease());
    for (const [index, child] of node.children.entries()) {
      cells.set(children + index, cells.at(child.cell));
      this.#describe(child);
    }
  }

  /** Shows rows [start, start + rows) of the columns. `start` must be a multiple of 8. */
  show(columns: readonly ColumnIn[], start: number, rows: number): void {
    const cells = this.#cells;
    cells.set(ARRAY.length, rows);
    // The conversion takes ownership of the array, and says so by clearing this field.
    cells.set(ARRAY.release, harmlessRelease());
    for (let index = 0; index < this.#columns.length; index++) {
      const node = this.#columns[index];
      const column = columns[index];
      if (node !== undefined && column !== undefined) this.#show(node, column, start, rows);
    }
  }

  #show(node: Node, column: ColumnIn, start: number, rows: number): void {
    const cells = this.#cells;
    cells.set(node.cell + ARRAY.length, rows);
    cells.set(node.cell + ARRAY.release, harmlessRelease());
    if (node.kind === "none") {
      cells.set(node.cell + ARRAY.nullCount, rows);
      return;
    }
    if (column.validity === 0) {
      cells.set(node.cell + ARRAY.nullCount, 0);
      cells.set(node.buffers, 0);
    } else {
      cells.setMinusOne(node.cell + ARRAY.nullCount);
      cells.set(node.buffers, column.validity + start / 8);
    }
    switch (node.kind) {
      case "bits":
        cells.set(node.buffers + 1, column.first + start / 8);
        return;
      case "fixed":
        cells.set(node.buffers + 1, column.first + start * node.width);
        return;
      case "bytes":
        cells.set(node.buffers + 1, column.first + start * node.width);
        cells.set(node.buffers + 2, column.second);
        return;
      case "list":
        cells.set(node.buffers + 1, column.first + start * node.width);
        this.#showChildren(node, column, 0, column.children[0]?.length ?? 0);
        return;
      case "fixedList":
        this.#showChildren(node, column, start * node.width, rows * node.width);
        return;
      default:
        this.#showChildren(node, column, start, rows);
    }
  }

  #showChildren(node: Node, column: ColumnIn, start: number, rows: number): void {
    for (let index = 0; index < node.children.length; index++) {
      const child = node.children[index];
      const inner = column.children[index];
      if (child !== undefined && inner !== undefined) this.#show(child, inner, start, rows);
    }
  }
}
