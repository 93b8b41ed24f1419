/**
 * Sends rows to the blocks of their partitions, by the number in the column PARTITION, which is left out. Each
 * partition has a block in the making. A block is handed over when it is full, and the largest one when all of them
 * together hold too much. Where and when rows go depends only on the rows, so that a replay makes the same blocks in
 * the same order.
 */
import {
  BlockBuilder,
  nextCut,
  type RecordBatch,
  sliceBatch,
  takeBatch,
  type Vector,
  viewOf,
} from "../../arrow/index.ts";
import { type BlockShape, type Bytes, PARTITION, type TaskOrder } from "../../protocol/index.ts";
import type { BlockOutlet } from "./block-sink.ts";
import { Handover, refuseLargeRow } from "./handover.ts";
import type { Held, TaskSink } from "./sink.ts";

/** How many rows are sorted by partition at a time. With more rows, longer stretches are copied. */
const MORSEL_ROWS = 32_768;
const MORSEL_BYTES = 8 << 20;
export class ScatterSink implements TaskSink {
  readonly files = [];
  readonly takesEach = true;
  readonly #handover: Handover;
  readonly #morsel: BlockBuilder;
  readonly #blocks: (BlockBuilder | undefined)[];
  #held = 0;

  constructor(
    private readonly operator: string,
    private readonly shape: BlockShape,
    private readonly partitions: number,
    task: Pick<TaskOrder, "handedOver" | "repair">,
    private readonly outlet: BlockOutlet,
    scratch: BlockBuilder,
  ) {
    this.#handover = new Handover(operator, task, outlet);
    this.#morsel = scratch;
    this.#blocks = new Array<BlockBuilder | undefined>(partitions);
  }

  get rows(): number {
    return this.#handover.rows;
  }

  get bytes(): number {
    return this.#handover.bytes;
  }

  get unsealed(): Held {
    const rows = this.#blocks.reduce((sum, block) => sum + (block?.rows ?? 0), this.#morsel.rows);
    return { rows, bytes: this.#held + this.#morsel.byteLength };
  }

  get wanted(): number {
    return this.satisfied ? 0 : Number.POSITIVE_INFINITY;
  }

  get satisfied(): boolean {
    return this.#handover.satisfied;
  }

  push(batch: RecordBatch): void | Promise<void> {
    if (this.satisfied) return;
    this.#morsel.append(batch);
    if (this.#morsel.rows >= MORSEL_ROWS || this.#morsel.byteLength >= MORSEL_BYTES) return this.#scatter();
  }

  async end(): Promise<void> {
    if (this.#morsel.rows > 0) await this.#scatter();
    for (let partition = 0; partition < this.partitions; partition++) await this.#seal(partition);
    this.#handover.end();
  }

  close(): void {
    for (const block of this.#blocks) block?.release();
  }

  async #scatter(): Promise<void> {
    const batch = this.#morsel.finish();
    if (batch === null) return;
    const { starts, order } = sortedByPartition(this.#partitionsOf(batch), this.partitions);
    const sorted = takeBatch(withoutPartition(batch), order);
    for (let partition = 0; partition < this.partitions; partition++) {
      const start = starts[partition] as number;
      const end = starts[partition + 1] as number;
      if (end > start) await this.#append(partition, sorted, start, end);
    }
    // All partitions together hold no more than a single block may have.
    while (this.#held > this.shape.targetBytes && !this.satisfied) await this.#seal(this.#largest());
  }

  async #append(partition: number, batch: RecordBatch, from: number, to: number): Promise<void> {
    const { targetBytes } = this.shape;
    const block = this.#blockOf(partition);
    if (block.blockLengthWith(batch, from, to) <= targetBytes) {
      this.#grow(block, batch, from, to);
      return;
    }
    const rows = sliceBatch(batch, from, to);
    for (let start = 0; start < rows.length && !this.satisfied; ) {
      const end = nextCut(block, rows, start, targetBytes);
      if (end > start) {
        refuseLargeRow(this.operator, block.blockLengthWith(rows, start, end), this.outlet.capacity);
        this.#grow(block, rows, start, end);
      }
      start = end;
      if (start < rows.length) await this.#seal(partition);
    }
  }

  #grow(block: BlockBuilder, batch: RecordBatch, from: number, to: number): void {
    const before = block.byteLength;
    block.append(batch, from, to);
    this.#held += block.byteLength - before;
  }

  #blockOf(partition: number): BlockBuilder {
    let block = this.#blocks[partition];
    if (block === undefined) {
      block = new BlockBuilder();
      this.#blocks[partition] = block;
    }
    return block;
  }

  #largest(): number {
    let largest = 0;
    let bytes: Bytes = -1;
    for (const [partition, block] of this.#blocks.entries()) {
      if (block === undefined || block.byteLength <= bytes) continue;
      largest = partition;
      bytes = block.byteLength;
    }
    return largest;
  }

  async #seal(partition: number): Promise<void> {
    const block = this.#blocks[partition];
    if (block === undefined || block.rows === 0 || this.satisfied) return;
    this.#held -= block.byteLength;
    const batch = block.finish();
    if (batch !== null) await this.#handover.block(batch, partition);
    // Releases the memory to the partition that grows next. If every partition kept its own, it would be as much as all
    // of their largest blocks together.
    block.release();
  }

  #partitionsOf(batch: RecordBatch): Int32Array | Uint32Array {
    const index = batch.schema.fields.findIndex(({ name }) => name === PARTITION);
    const column = batch.columns[index];
    if (column === undefined) throw new Error(`${this.operator}: rows came without the column ${PARTITION}`);
    const numbers = wholeNumbers(column);
    for (let row = 0; row < batch.length; row++) {
      const partition = numbers?.[row];
      if (partition === undefined || partition < 0 || partition >= this.partitions) {
        throw new Error(
          `${this.operator}: row ${row} is to go to partition ${partition ?? "null"} of ${this.partitions}`,
        );
      }
    }
    return numbers ?? new Int32Array(0);
  }
}

/** Null if the column has nulls, or is not of whole numbers. */
function wholeNumbers(column: Vector): Int32Array | Uint32Array | null {
  const { type, length, offset } = column;
  const data = column.buffers[1] ?? new Uint8Array(0);
  if (type.kind !== "int" || column.nullCount !== 0) return null;
  switch (type.bits) {
    case 8:
      return Int32Array.from(
        type.signed ? viewOf(Int8Array, data, offset, length) : viewOf(Uint8Array, data, offset, length),
      );
    case 16:
      return Int32Array.from(
        type.signed ? viewOf(Int16Array, data, offset, length) : viewOf(Uint16Array, data, offset, length),
      );
    case 32:
      return type.signed ? viewOf(Int32Array, data, offset, length) : viewOf(Uint32Array, data, offset, length);
    case 64: {
      const words = viewOf(Uint32Array, data, 2 * offset, 2 * length);
      const numbers = new Int32Array(length);
      // A number with bits in its upper half is out of range. It becomes -1, which is no partition and is reported as
      // such.
      for (let row = 0; row < length; row++) numbers[row] = words[2 * row + 1] === 0 ? (words[2 * row] as number) : -1;
      return numbers;
    }
  }
}

/** The rows by partition, each partition in order of arrival: a counting sort. */
function sortedByPartition(numbers: Int32Array | Uint32Array, partitions: number) {
  const starts = new Int32Array(partitions + 1);
  for (let row = 0; row < numbers.length; row++) {
    const place = (numbers[row] as number) + 1;
    starts[place] = (starts[place] as number) + 1;
  }
  for (let partition = 0; partition < partitions; partition++) {
    starts[partition + 1] = (starts[partition + 1] as number) + (starts[partition] as number);
  }
  const next = starts.slice();
  const order = new Int32Array(numbers.length);
  for (let row = 0; row < numbers.length; row++) {
    const partition = numbers[row] as number;
    const place = next[partition] as number;
    order[place] = row;
    next[partition] = place + 1;
  }
  return { starts, order };
}

function withoutPartition({ schema, length, columns }: RecordBatch): RecordBatch {
  const keep = (index: number) => schema.fields[index]?.name !== PARTITION;
  return {
    schema: { fields: schema.fields.filter((_, index) => keep(index)) },
    length,
    columns: columns.filter((_, index) => keep(index)),
  };
}
