/** Rows as plain objects, copied out of blocks. */
import {
  compileRows,
  type RowReader,
  type Schema,
  schemaEquals,
  toRows,
  type ValueOptions,
} from "../../arrow/index.ts";
import type { ReceivedBlock } from "../engine.ts";
import { type Blocks, blocksOf, type Run } from "./blocks.ts";
import type { Cancellation } from "./cancellation.ts";

export async function collectRows<R>(run: Run, values: ValueOptions): Promise<R[]> {
  const rows: R[] = [];
  for await (const block of blocksOf(run)) {
    try {
      // The user declares the row type; the compiler cannot check it against data from outside.
      for (const row of toRows(block.read(), values)) rows.push(row as R);
    } finally {
      block.release();
    }
  }
  return rows;
}

/** How often the program looks at its own memory while it reads one block. */
const LOOKS = 64;

/**
 * Rows one at a time. Written by hand, because an async generator costs three times as much per row. A row is copied
 * out of its block only when it is asked for.
 */
export class RowIterator<R> implements AsyncIterableIterator<R> {
  readonly #blocks: AsyncIterator<ReceivedBlock>;
  readonly #left = new AbortController();
  #reader: RowReader | null = null;
  #schema: Schema | null = null;
  #block: ReceivedBlock | null = null;
  #length = 0;
  #at = 0;
  /** After so many rows, the program looks at its own memory. */
  #stride = 1;
  #advancing: Promise<unknown> | null = null;

  constructor(
    blocks: Blocks,
    private readonly values: ValueOptions,
    prefetch: number,
    private readonly cancellation: Cancellation,
  ) {
    this.#blocks = blocks(prefetch, this.#left.signal);
    // Cancelling only lets go of the blocks: the next call for a row asks the blocks, which throw the reason.
    cancellation.onCancel(() => this.#letGo());
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<R, undefined>> {
    if (this.#at >= this.#length || this.#reader === null) return this.#fetch();
    if (this.#at % this.#stride === 0) {
      const room = this.#block?.room() ?? null;
      if (room !== null) return room.then(() => this.#taken());
    }
    return this.#taken();
  }

  #taken(): Promise<IteratorResult<R, undefined>> {
    if (this.#at >= this.#length || this.#reader === null) return this.#fetch();
    try {
      return Promise.resolve({ value: this.#reader.row(this.#at++) as R, done: false });
    } catch (error) {
      return this.return().then(() => Promise.reject(error));
    }
  }

  async return(): Promise<IteratorResult<R, undefined>> {
    this.#letGo();
    this.#left.abort();
    await this.#blocks.return?.();
    return { value: undefined, done: true };
  }

  #fetch(): Promise<IteratorResult<R, undefined>> {
    // A row may be asked for before the previous one has come: the calls wait for each other.
    const before = this.#advancing ?? Promise.resolve();
    const turn = before.then(() => this.#advance());
    const settled = turn
      .catch(() => {})
      .finally(() => {
        if (this.#advancing === settled) this.#advancing = null;
      });
    this.#advancing = settled;
    return turn;
  }

  async #advance(): Promise<IteratorResult<R, undefined>> {
    while (this.#at >= this.#length) {
      this.#letGo();
      const { value: block, done } = await this.#blocks.next();
      if (done === true) return { value: undefined, done: true };
      this.#block = block;
      if (this.cancellation.error !== null) continue;
      const batch = block.read();
      if (this.#reader === null || this.#schema === null || !schemaEquals(this.#schema, batch.schema)) {
        this.#reader = compileRows(batch.schema, this.values);
        this.#schema = batch.schema;
      }
      this.#reader.load(batch);
      this.#length = batch.length;
      this.#stride = Math.ceil(batch.length / LOOKS);
    }
    return this.next();
  }

  #letGo(): void {
    this.#block?.release();
    this.#block = null;
    this.#length = 0;
    this.#at = 0;
  }
}
