/** The store's side of a sink, in the test's own memory: what was asked, handed over and said. */
import { type RecordBatch, readBlock, toRows } from "../../src/arrow/index.ts";
import type { ArenaRange, HandedOver } from "../../src/protocol/index.ts";
import type { BlockOutlet } from "../../src/worker/sinks/block-sink.ts";

export class InventedOutlet implements BlockOutlet {
  readonly blocks: HandedOver[] = [];
  /** Of each block. */
  readonly bytes: Uint8Array[] = [];
  readonly notices: { readonly what: string; readonly text: string }[] = [];
  reserved = 0;
  readonly #memory = new Map<number, Uint8Array>();

  constructor(readonly capacity = 2 ** 30) {}

  readonly arena = {
    view: ({ offset }: ArenaRange) => this.#memory.get(offset) ?? new Uint8Array(0),
    writable: ({ offset, length }: ArenaRange) => {
      const bytes = new Uint8Array(length).fill(0xff);
      this.#memory.set(offset, bytes);
      return bytes;
    },
  };

  async reserve(length: number): Promise<ArenaRange> {
    return { offset: this.reserved++, length };
  }

  output({ range, length, rows, checksum }: Parameters<BlockOutlet["output"]>[0]): void {
    this.blocks.push({ rows, length, checksum });
    this.bytes.push(this.arena.view(range));
  }

  notice(what: string, text: string): void {
    this.notices.push({ what, text });
  }

  get batches(): RecordBatch[] {
    return this.bytes.map(readBlock);
  }

  get lengths(): number[] {
    return this.blocks.map(({ length }) => length);
  }

  get rowCounts(): number[] {
    return this.blocks.map(({ rows }) => rows);
  }

  column(name: string): unknown[] {
    return this.batches.flatMap((batch) => toRows(batch, {}).map((row) => row[name]));
  }
}
