/**
 * Combines rows into blocks, and hands a block over as soon as the next rows no longer fit. Where blocks end depends
 * only on the task's rows, so that a replay makes the same blocks.
 */
import { BlockBuilder, evenSlices, nextCut, type RecordBatch, sliceBatch, type TypeFamily } from "../../arrow/index.ts";
import type { ArenaRange, BlockShape, Bytes, Notice, TaskOrder } from "../../protocol/index.ts";
import type { MappedArena } from "../../store/index.ts";
import { Handover, refuseLargeRow } from "./handover.ts";
import type { Held, TaskSink } from "./sink.ts";

/** How a block reaches the supervisor. */
export interface BlockOutlet {
  readonly arena: Pick<MappedArena, "view" | "writable">;
  /** The capacity of the store: no block can be larger. */
  readonly capacity: Bytes;
  reserve(bytes: Bytes): Promise<ArenaRange>;
  output(block: {
    range: ArenaRange;
    length: Bytes;
    rows: number;
    checksum: number;
    columns: readonly string[];
    types: readonly TypeFamily[];
    partition?: number;
  }): void;
  /** Tells the user something, once an operator for each `what`. */
  notice(what: string, notice: Notice): void;
}

/** The function whose batches reach the sink unchanged. */
interface BatchMaker {
  readonly operator: string;
  /** How many rows it got for the batch that it hands on now. */
  readonly given: number;
}

export class BlockSink implements TaskSink {
  readonly files = [];
  maker: BatchMaker | null = null;
  readonly #block: BlockBuilder;
  readonly #handover: Handover;
  /** This many rows are a block, however small. */
  #enough: number;

  constructor(
    private readonly operator: string,
    private readonly shape: BlockShape,
    task: Pick<TaskOrder, "handedOver" | "repair">,
    private readonly outlet: BlockOutlet,
    scratch: BlockBuilder,
  ) {
    this.#block = scratch;
    this.#handover = new Handover(operator, task, outlet);
    this.#enough = Math.max(1, shape.firstRows ?? Number.POSITIVE_INFINITY);
  }

  get takesEach(): boolean {
    return this.#enough === Number.POSITIVE_INFINITY;
  }

  get rows(): number {
    return this.#handover.rows;
  }

  get bytes(): number {
    return this.#handover.bytes;
  }

  get unsealed(): Held {
    return { rows: this.#block.rows, bytes: this.#block.byteLength };
  }

  get wanted(): number {
    return this.satisfied ? 0 : this.#enough - this.#block.rows;
  }

  get satisfied(): boolean {
    return this.#handover.satisfied;
  }

  push(batch: RecordBatch): void | Promise<void> {
    if (this.#block.rows + batch.length < this.#enough) return this.#take(batch);
    return this.#takeEnough(batch);
  }

  /** Cuts where there are enough rows for a block, which depends on rows alone. */
  async #takeEnough(batch: RecordBatch): Promise<void> {
    for (let start = 0; start < batch.length && !this.satisfied; ) {
      const end = Math.min(batch.length, start + this.#enough - this.#block.rows);
      await this.#take(sliceBatch(batch, start, end));
      if (this.#block.rows >= this.#enough) {
        await this.#seal();
        this.#enough *= 2;
      }
      start = end;
    }
  }

  #take(batch: RecordBatch): void | Promise<void> {
    if (this.satisfied) return;
    const { targetBytes, minBytes } = this.shape;
    const fits = this.#block.blockLengthWith(batch, 0, batch.length) <= targetBytes;
    if (!fits || minBytes === false) return this.#shape(batch);
    this.#block.append(batch);
  }

  async end(): Promise<void> {
    if (this.satisfied) return;
    if (this.#block.rows > 0) await this.#seal();
    this.#handover.end();
  }

  close(): void {}

  /**
   * A batch that does not fit into the present block. It is cut if it is too large itself, or if the present block is
   * too small to stand alone; otherwise it starts the next block.
   */
  async #shape(batch: RecordBatch): Promise<void> {
    const { targetBytes, minBytes } = this.shape;
    const block = this.#block;
    const whole = this.#lookAtBatch(batch) <= targetBytes;
    if (block.rows > 0 && (minBytes === false || (whole && block.blockLength >= minBytes))) await this.#seal();
    for (let start = 0; start < batch.length && !this.satisfied; ) {
      const end = nextCut(block, batch, start, targetBytes);
      const length = block.blockLengthWith(batch, start, end);
      if (end > start) {
        if (length > targetBytes) this.#lookAtRow(length);
        block.append(batch, start, end);
        start = end;
      }
      if (start < batch.length || length >= targetBytes || minBytes === false) await this.#seal();
    }
  }

  /** The bytes of the batch as a block. A function that made too many bytes is reported. */
  #lookAtBatch(batch: RecordBatch): Bytes {
    const { targetBytes } = this.shape;
    const alone = new BlockBuilder();
    const length = alone.blockLengthWith(batch, 0, batch.length);
    // If one row makes too many bytes, smaller batches cannot help.
    if (length <= targetBytes || this.maker === null || this.maker.given <= 1) return length;
    const { operator, given } = this.maker;
    const { frameLength } = alone;
    const fitting = Math.max(1, Math.floor((given * (targetBytes - frameLength)) / (length - frameLength)));
    this.outlet.notice("batch", {
      kind: "batchCut",
      operator,
      bytes: length,
      rows: given,
      target: targetBytes,
      fitting,
    });
    return length;
  }

  #lookAtRow(length: Bytes): void {
    refuseLargeRow(this.operator, length, this.outlet.capacity);
    const { operator, shape } = this;
    this.outlet.notice("row", { kind: "largeRow", operator, bytes: length, target: shape.targetBytes });
  }

  async #seal(): Promise<void> {
    const held = this.#block.finish();
    if (held === null) return;
    // Usually one block. Nulls of no type may have become values of a type that takes more.
    for (const batch of evenSlices(held, this.shape.targetBytes)) {
      if (!this.satisfied) await this.#handover.block(batch);
    }
  }
}
