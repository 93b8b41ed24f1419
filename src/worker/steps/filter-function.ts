/**
 * filter(fn): the user's function says which rows stay. The rows themselves are never rebuilt, so every type stays
 * exactly as it was.
 */
import {
  BlockBuilder,
  compileRows,
  type RecordBatch,
  type RowReader,
  type Schema,
  schemaEquals,
  type ValueOptions,
} from "../../arrow/index.ts";
import type { Stage, TaskScope } from "../stage.ts";
import type { Failures } from "./failures.ts";
import { InOrder } from "./in-order.ts";

const PIECE_ROWS = 4096;

export class FilterFunctionStep implements Stage {
  readonly #kept = new BlockBuilder();
  #schema: Schema | null = null;
  #reader: RowReader | null = null;
  #seen = 0;

  constructor(
    private readonly call: (row: unknown) => unknown,
    private readonly values: ValueOptions,
    private readonly maxInFlight: number,
    private readonly failures: Failures,
    private readonly next: Stage,
    private readonly scope: TaskScope,
  ) {}

  push(batch: RecordBatch): void | Promise<void> {
    if (this.#reader === null || this.#schema === null || !schemaEquals(this.#schema, batch.schema)) {
      this.#reader = compileRows(batch.schema, this.values);
      this.#schema = batch.schema;
    }
    const reader = this.#reader;
    // Called by its own name: as a member of ours it would have our name in the user's stack.
    const { call } = this;
    reader.load(batch);
    let start = -1;
    for (let i = 0; i < batch.length; i++) {
      const row = this.#read(reader, i);
      let keep: unknown = false;
      try {
        keep = call(row);
        if (keep instanceof Promise) return this.#pushAsync(batch, reader, i, keep, start);
      } catch (thrown) {
        this.failures.row(thrown, this.#seen + i, row);
      }
      if (keep) {
        if (start < 0) start = i;
      } else if (start >= 0) {
        this.#kept.append(batch, start, i);
        start = -1;
      }
    }
    if (start >= 0) this.#kept.append(batch, start, batch.length);
    this.#seen += batch.length;
    return this.#handOn(PIECE_ROWS);
  }

  async end(): Promise<void> {
    await this.#handOn(1);
    await this.next.end();
  }

  close(): void {
    this.next.close();
  }

  /** Rows from `at` on, of which the first was called already; `start` is where a run of kept rows stands open. */
  async #pushAsync(
    batch: RecordBatch,
    reader: RowReader,
    at: number,
    first: Promise<unknown>,
    start: number,
  ): Promise<void> {
    const { call } = this;
    const keep = new Uint8Array(batch.length);
    if (start >= 0) keep.fill(1, start, at);
    const ask = async (answer: unknown, i: number, row: unknown): Promise<void> => {
      try {
        if (await answer) keep[i] = 1;
      } catch (thrown) {
        this.failures.row(thrown, this.#seen + i, row);
      }
    };
    const calls = new InOrder<void>(this.maxInFlight, (_, error) => {
      if (error !== null) throw error.thrown;
    });
    calls.add(ask(first, at, reader.row(at)));
    for (let i = at + 1; i < batch.length; i++) {
      await calls.room();
      this.scope.check();
      const row = this.#read(reader, i);
      calls.add(ask((async () => call(row))(), i, row));
    }
    await calls.drain();
    for (let i = 0; i < batch.length; i++) {
      if (keep[i] === 1) {
        let end = i + 1;
        while (end < batch.length && keep[end] === 1) end++;
        this.#kept.append(batch, i, end);
        i = end;
      }
    }
    this.#seen += batch.length;
    await this.#handOn(PIECE_ROWS);
  }

  #read(reader: RowReader, i: number): object {
    try {
      return reader.row(i);
    } catch (thrown) {
      throw this.failures.unreadable(thrown, this.#seen + i);
    }
  }

  #handOn(atLeast: number): void | Promise<void> {
    if (this.#kept.rows < atLeast) return;
    const piece = this.#kept.finish();
    if (piece !== null) return this.next.push(piece);
  }
}
