/** The store's side of a sink, in the test's own memory: what was asked, handed over and said. */

import { planBlock, type RecordBatch, readBlock, toRows } from "../../src/arrow/index.ts";
import { noticeText } from "../../src/notices/index.ts";
import type { ArenaRange, HandedOver, Notice, PlacedSlice } from "../../src/protocol/index.ts";
import type { KernelUsage } from "../../src/worker/leased-kernel.ts";
import type { TaskOutlet } from "../../src/worker/task.ts";

export class InventedOutlet implements TaskOutlet {
  readonly blocks: HandedOver[] = [];
  /** Of each block. */
  readonly bytes: Uint8Array[] = [];
  /** Of each block: the partition that it was scattered to. */
  readonly partitions: (number | undefined)[] = [];
  readonly usages: KernelUsage[] = [];
  /** Called for every `fed`. */
  onFed: () => void = () => {};
  onReserve: () => void | Promise<void> = () => {};
  fedMessages = 0;
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
    await this.onReserve();
    return { offset: this.reserved++, length };
  }

  output({ range, length, rows, checksum, partition }: Parameters<TaskOutlet["output"]>[0]): void {
    this.partitions.push(partition);
    this.blocks.push({ rows, length, checksum });
    this.bytes.push(this.arena.view(range));
  }

  fed(): void {
    this.fedMessages++;
    this.onFed();
  }

  isMostlyFree(): boolean {
    return true;
  }

  firstBatch(): void {}

  kernelUsage(usage: KernelUsage): void {
    this.usages.push(usage);
  }

  /** A block in the store, for a task to read. */
  place(batch: RecordBatch): PlacedSlice {
    const plan = planBlock(batch);
    const range = { offset: this.reserved++, length: plan.byteLength };
    plan.write(this.arena.writable(range));
    return { range, start: 0, end: batch.length };
  }

  /** Its block is no longer pinned: others write there. */
  overwrite({ range }: PlacedSlice): void {
    this.arena.view(range).fill(0xff);
  }

  notice(what: string, notice: Notice): void {
    this.notices.push({ what, text: noticeText(notice) });
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
