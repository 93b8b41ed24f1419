/**
 * The batches that the generator of one call yields. They are handed on while they come, and the generator is closed as
 * soon as no more rows are wanted.
 *
 * If failing calls are dropped (onError), the batches of a call are held back until the call has ended, so that a
 * failure drops them, too. A call that yields more than can be held is the exception: its batches are handed on, and a
 * later failure fails its task.
 */
import { BlockBuilder, type RecordBatch } from "../../arrow/index.ts";
import type { Link, TaskScope } from "../link.ts";
import { HELD_BYTES } from "./failures.ts";
import { closeQuietly } from "./iterators.ts";

export interface Failure {
  readonly thrown: unknown;
  /** Rows of the call that cannot be dropped any more. */
  readonly handedOn: number;
}

export class ManyBatches {
  readonly #held: BlockBuilder | null;
  #handedOn = 0;

  constructor(
    private readonly toBatches: (part: unknown) => readonly RecordBatch[],
    private readonly next: Link,
    private readonly scope: TaskScope,
    holds: boolean,
  ) {
    this.#held = holds ? new BlockBuilder() : null;
  }

  /** Null where the call has ended well. */
  async take(parts: Iterator<unknown> | AsyncIterator<unknown>): Promise<Failure | null> {
    while (!this.#isEnough()) {
      let part: IteratorResult<unknown> | null = null;
      let batches: readonly RecordBatch[];
      try {
        part = await parts.next();
        if (part.done === true) return this.#end();
        batches = this.toBatches(part.value);
        if (this.#held !== null) for (const batch of batches) this.#held.append(batch);
      } catch (thrown) {
        if (part !== null) closeQuietly(parts);
        return { thrown, handedOn: this.#handedOn };
      }
      try {
        await (this.#held === null ? this.#handOn(batches) : this.#handOnHeld(HELD_BYTES));
        await this.scope.turn();
      } catch (error) {
        closeQuietly(parts);
        throw error;
      }
    }
    try {
      await parts.return?.();
    } catch (thrown) {
      return { thrown, handedOn: this.#handedOn };
    }
    return this.#end();
  }

  #isEnough(): boolean {
    const { wanted, takesEach } = this.next;
    return wanted <= 0 || (takesEach && this.#held !== null && this.#held.rows >= wanted);
  }

  async #end(): Promise<null> {
    await this.#handOnHeld(0);
    return null;
  }

  async #handOn(batches: readonly RecordBatch[]): Promise<void> {
    for (const batch of batches) if (batch.length > 0) await this.next.push(batch);
  }

  async #handOnHeld(fromBytes: number): Promise<void> {
    if (this.#held === null || this.#held.rows === 0 || this.#held.byteLength < fromBytes) return;
    this.#handedOn += this.#held.rows;
    const batch = this.#held.finish();
    if (batch !== null) await this.next.push(batch);
  }
}
