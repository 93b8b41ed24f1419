/**
 * C memory as 64-bit cells that JavaScript reads and writes: out-parameters, arrays of pointers, and the structs of the
 * Arrow C data interface. It is pinned JavaScript memory, so nothing has to be freed, and a stale pointer reads stale
 * numbers instead of crashing.
 */
import { copy, type Pinned, pin } from "../native/index.ts";

const HIGH = 4294967296;

export class Cells {
  readonly address: number;
  readonly #words: Uint32Array;

  constructor(count: number) {
    const memory: Pinned = pin(count * 8);
    this.address = memory.address;
    this.#words = new Uint32Array(memory.buffer);
  }

  /** The address of a cell. */
  at(cell: number): number {
    return this.address + cell * 8;
  }

  get(cell: number): number {
    const words = this.#words;
    return (words[2 * cell] ?? 0) + (words[2 * cell + 1] ?? 0) * HIGH;
  }

  /** A count or an address, never negative. Storing takes the number modulo 2^32, which is its low half. */
  set(cell: number, value: number): void {
    this.#words[2 * cell] = value;
    this.#words[2 * cell + 1] = value / HIGH;
  }

  setMinusOne(cell: number): void {
    this.#words.fill(0xffffffff, 2 * cell, 2 * cell + 2);
  }

  /** Copies cells from C memory: a copy costs 60 ns, a view for each struct would cost 1.5 µs and a collection. */
  load(cell: number, from: number, count: number): void {
    copy(this.address + cell * 8, from, count * 8);
  }
}

/** struct ArrowArray, in cells. */
export const ARRAY = {
  length: 0,
  nullCount: 1,
  offset: 2,
  bufferCount: 3,
  childCount: 4,
  buffers: 5,
  children: 6,
  dictionary: 7,
  release: 8,
  privateData: 9,
  size: 10,
} as const;

/** struct ArrowSchema, in cells. */
export const SCHEMA = {
  format: 0,
  name: 1,
  metadata: 2,
  flags: 3,
  childCount: 4,
  children: 5,
  dictionary: 6,
  release: 7,
  privateData: 8,
  size: 9,
} as const;

const handleCell = new Cells(1);

/** DuckDB destroys a handle through a pointer to the handle. */
export function destroyHandle(destroy: (at: number) => void, handle: number): void {
  handleCell.set(0, handle);
  destroy(handleCell.address);
}
