/**
 * Row groups of a few rows each as one row group: of each column, the pages one after another. It has no statistics,
 * because those of its parts would have to be decoded.
 */
import type { Chunk } from "./chunks.ts";
import { GrowingBytes } from "./growing.ts";

/** The least room for a column's pages; wide files have thousands of columns. */
const FIRST_ROOM = 512;

/** Headers of fields in the footer's own encoding: the distance to the field before, and the type. */
const NEXT_NUMBER = 0x16;
const SECOND_NUMBER = 0x26;
const THIRD_NUMBER = 0x36;
const NEXT_STRUCT = 0x1c;
const NEXT_LIST = 0x19;
const STRUCTS = 0xfc;
const END = 0;

interface MergedColumn {
  readonly kind: Uint8Array;
  readonly pages: GrowingBytes;
  /** Before compression. */
  bytes: number;
}

export class MergedGroup {
  #rows = 0;
  readonly #columns: readonly MergedColumn[];

  /** For row groups with chunks of the same kinds. */
  constructor(chunks: readonly Chunk[]) {
    this.#columns = chunks.map(({ kind }) => {
      // A copy: the next file is read into the same memory.
      return { kind: Uint8Array.from(kind), pages: new GrowingBytes(FIRST_ROOM), bytes: 0 };
    });
  }

  get rows(): number {
    return this.#rows;
  }

  takes(chunks: readonly Chunk[]): boolean {
    return (
      chunks.length === this.#columns.length &&
      this.#columns.every(({ kind }, i) => Buffer.compare(kind, chunks[i]?.kind ?? kind) === 0)
    );
  }

  /** Copies the pages of chunks that it takes. */
  add(file: Uint8Array, chunks: readonly Chunk[], rows: number): void {
    for (const [i, column] of this.#columns.entries()) {
      const chunk = chunks[i];
      if (chunk === undefined) throw new RangeError("a row group with too few chunks");
      column.pages.append(file, chunk.start, chunk.end);
      column.bytes += chunk.bytes;
    }
    this.#rows += rows;
  }

  /** Appends its pages, and its part of the footer. */
  write(pages: GrowingBytes, footer: GrowingBytes): void {
    const number = (head: number, value: number) => {
      footer.appendUnsigned(head);
      footer.appendUnsigned(2 * value);
    };
    footer.appendUnsigned(NEXT_LIST);
    footer.append(Uint8Array.of(STRUCTS));
    footer.appendUnsigned(this.#columns.length);
    for (const column of this.#columns) {
      number(SECOND_NUMBER, 0);
      footer.appendUnsigned(NEXT_STRUCT);
      footer.append(column.kind);
      number(NEXT_NUMBER, this.#rows);
      number(NEXT_NUMBER, column.bytes);
      number(NEXT_NUMBER, column.pages.length);
      number(SECOND_NUMBER, pages.length);
      footer.appendUnsigned(END);
      footer.appendUnsigned(END);
      pages.append(column.pages.bytes);
    }
    const [before, after] = [sum(this.#columns, ({ bytes }) => bytes), sum(this.#columns, ({ pages }) => pages.length)];
    number(NEXT_NUMBER, before);
    number(NEXT_NUMBER, this.#rows);
    number(THIRD_NUMBER, after);
    footer.appendUnsigned(END);
  }
}

function sum(columns: readonly MergedColumn[], of: (column: MergedColumn) => number): number {
  return columns.reduce((total, column) => total + of(column), 0);
}
