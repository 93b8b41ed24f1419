/**
 * Puts rows together to blocks and hands each over as soon as it is full. The size is known before room is asked
 * for, so exactly that much is reserved; asking is also waiting for credit. On a replay the blocks that an earlier
 * attempt handed over are made again and compared, not written again.
 */
import { crc32 } from "node:zlib";
import { type BlockBuilder, planBlock, type RecordBatch } from "../../arrow/index.ts";
import { NondeterministicFunctionError } from "../../errors/index.ts";
import type { ArenaRange, Bytes, HandedOver } from "../../protocol/index.ts";
import type { MappedArena } from "../../store/mapping.ts";
import type { TaskSink } from "./sink.ts";

/** How a block reaches the supervisor. */
export interface BlockOutlet {
  readonly arena: MappedArena;
  reserve(bytes: Bytes): Promise<ArenaRange>;
  output(block: { range: ArenaRange; length: Bytes; rows: number; checksum: number; columns: readonly string[] }): void;
}

export class BlockSink implements TaskSink {
  rows = 0;
  bytes = 0;
  readonly files = [];
  readonly #block: BlockBuilder;
  #sealed = 0;

  constructor(
    private readonly operator: string,
    private readonly targetBytes: Bytes,
    private readonly handedOver: readonly HandedOver[],
    private readonly outlet: BlockOutlet,
    scratch: BlockBuilder,
  ) {
    this.#block = scratch;
  }

  push(batch: RecordBatch): void | Promise<void> {
    // A batch that a function made may be far larger than a block: it is taken in pieces of the target's size.
    const rowBytes = this.#block.rows === 0 ? 0 : this.#block.byteLength / this.#block.rows;
    if (batch.length <= 4096 || rowBytes * batch.length < this.targetBytes / 2) {
      this.#block.append(batch);
      if (this.#block.byteLength >= this.targetBytes) return this.#seal();
      return;
    }
    return this.#pushInPieces(batch);
  }

  async end(): Promise<void> {
    if (this.#block.rows > 0) await this.#seal();
    if (this.#sealed < this.handedOver.length) {
      throw this.#differs(`${this.#sealed} blocks instead of ${this.handedOver.length}`);
    }
  }

  close(): void {}

  async #pushInPieces(batch: RecordBatch): Promise<void> {
    for (let start = 0; start < batch.length; start += 1024) {
      this.#block.append(batch, start, Math.min(batch.length, start + 1024));
      if (this.#block.byteLength >= this.targetBytes) await this.#seal();
    }
  }

  async #seal(): Promise<void> {
    const batch = this.#block.finish();
    if (batch === null) return;
    const plan = planBlock(batch);
    const length = plan.byteLength;
    const before = this.handedOver[this.#sealed];
    if (before !== undefined) {
      const again = new Uint8Array(length);
      plan.write(again);
      this.#compare(before, { rows: batch.length, length, checksum: crc32(again) });
    } else {
      const range = await this.outlet.reserve(length);
      const bytes = this.outlet.arena.writable({ offset: range.offset, length });
      plan.write(bytes);
      const columns = batch.schema.fields.map(({ name }) => name);
      this.outlet.output({ range, length, rows: batch.length, checksum: crc32(bytes), columns });
    }
    this.#sealed++;
    this.rows += batch.length;
    this.bytes += length;
  }

  #compare(before: HandedOver, now: HandedOver): void {
    if (before.rows === now.rows && before.length === now.length && before.checksum === now.checksum) return;
    throw this.#differs(
      `its block ${this.#sealed} has ${now.rows} rows and ${now.length} bytes (checksum ${now.checksum}), before ${before.rows} rows and ${before.length} bytes (checksum ${before.checksum})`,
    );
  }

  #differs(how: string): NondeterministicFunctionError {
    return new NondeterministicFunctionError(
      `${this.operator}: its worker died and the task was run again, but gave other rows than before: ${how}. A function whose result depends on time, randomness or outside state cannot be continued; make it depend on its input alone, or materialise before it.`,
      this.operator,
    );
  }
}
