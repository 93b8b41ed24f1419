/**
 * Hands sealed blocks to the supervisor, one after another. The size is known before room is asked for, so exactly that
 * much is reserved; the request also waits for credit. On a replay, blocks that an earlier attempt handed over are made
 * again and compared, but not written again.
 */
import { crc32 } from "node:zlib";
import { planBlock, type RecordBatch, typeFamily } from "../../arrow/index.ts";
import { NondeterministicFunctionError, StoreError } from "../../errors/index.ts";
import type { Bytes, HandedOver, TaskOrder } from "../../protocol/index.ts";
import { formatSize } from "../../units/index.ts";
import type { BlockOutlet } from "./block-sink.ts";

/** Called before the row's bytes are copied, or room is asked for. */
export function refuseLargeRow(operator: string, length: Bytes, capacity: Bytes): void {
  if (length <= capacity) return;
  throw new StoreError(
    `${operator}: one row takes ${formatSize(length)} (${length} bytes), but the whole store holds ${formatSize(capacity)} (${capacity} bytes). Rows are never cut: use a larger objectStoreMemory, or several rows instead of one.`,
  );
}

export class Handover {
  rows = 0;
  bytes = 0;
  #sealed = 0;

  constructor(
    private readonly operator: string,
    private readonly task: Pick<TaskOrder, "handedOver" | "repair">,
    private readonly outlet: BlockOutlet,
  ) {}

  /** The block for which the task was run again has been handed over. */
  get satisfied(): boolean {
    return this.task.repair !== undefined && this.#sealed > this.task.repair;
  }

  async block(batch: RecordBatch, partition?: number): Promise<void> {
    const plan = planBlock(batch);
    const length = plan.byteLength;
    const place = { rows: batch.length, length };
    const before = this.task.handedOver[this.#sealed];
    if (before !== undefined && this.#sealed !== this.task.repair) {
      const again = new Uint8Array(length);
      plan.write(again);
      this.#compare(before, { ...place, checksum: crc32(again) });
    } else {
      const range = await this.outlet.reserve(length);
      const bytes = this.outlet.arena.writable({ offset: range.offset, length });
      plan.write(bytes);
      const checksum = crc32(bytes);
      if (before !== undefined) this.#compare(before, { ...place, checksum });
      const columns = batch.schema.fields.map(({ name }) => name);
      const types = batch.schema.fields.map(({ type }) => typeFamily(type));
      this.outlet.output({
        range,
        ...place,
        checksum,
        columns,
        types,
        ...(partition === undefined ? {} : { partition }),
      });
    }
    this.#sealed++;
    this.rows += batch.length;
    this.bytes += length;
  }

  /** There are no more blocks. */
  end(): void {
    const { handedOver } = this.task;
    if (this.#sealed < handedOver.length && !this.satisfied) {
      throw this.#differs(`${this.#sealed} blocks instead of ${handedOver.length}`);
    }
  }

  #compare(before: HandedOver, now: HandedOver): void {
    if (before.rows === now.rows && before.length === now.length && before.checksum === now.checksum) return;
    throw this.#differs(
      `its block ${this.#sealed} has ${now.rows} rows and ${now.length} bytes (checksum ${now.checksum}), before ${before.rows} rows and ${before.length} bytes (checksum ${before.checksum})`,
    );
  }

  #differs(how: string): NondeterministicFunctionError {
    const why = this.task.repair === undefined ? "its worker died" : "a block of it was damaged";
    return new NondeterministicFunctionError(
      `${this.operator}: ${why} and the task ran again, but gave other rows than before: ${how}. A function whose result depends on time, randomness or outside state cannot be continued; make it depend on its input alone, or materialise before it.`,
      this.operator,
    );
  }
}
