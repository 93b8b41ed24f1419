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
import { Pace } from "./pace.ts";
import { PieceRows } from "./piece-rows.ts";

const PIECE_ROWS = 4096;

interface Answer {
  readonly index: number;
  readonly keep: boolean;
}

export class FilterFunctionStep implements Stage {
  readonly takesEach = false;
  readonly #kept = new BlockBuilder();
  /** Rows [start, end) of the batch at hand stay, and are not copied yet. */
  #start = 0;
  #end = 0;
  readonly #piece: PieceRows;
  readonly #pace: Pace;
  #enough = false;
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
  ) {
    this.#piece = new PieceRows(next, PIECE_ROWS);
    this.#pace = new Pace(scope);
  }

  get wanted(): number {
    return this.next.wanted;
  }

  push(batch: RecordBatch): void | Promise<void> {
    if (this.#reader === null || this.#schema === null || !schemaEquals(this.#schema, batch.schema)) {
      this.#reader = compileRows(batch.schema, this.values);
      this.#schema = batch.schema;
    }
    this.#reader.load(batch);
    return this.#pushSync(batch, this.#reader, 0);
  }

  async end(): Promise<void> {
    if (this.#kept.rows > 0) await this.#handOn();
    await this.next.end();
  }

  close(): void {
    this.next.close();
  }

  #pushSync(batch: RecordBatch, reader: RowReader, from: number): void | Promise<void> {
    // Called by its own name: as a member of ours it would have our name in the user's stack.
    const { call } = this;
    for (let i = from; i < batch.length && !this.#enough; i++) {
      const row = this.#read(reader, i);
      let keep: unknown = false;
      try {
        keep = call(row);
      } catch (thrown) {
        this.failures.row(thrown, this.#seen + i, row);
      }
      if (keep instanceof Promise) return this.#pushAsync(batch, reader, i, this.#ask(keep, i, row));
      const wait = (keep ? this.#keep(batch, i) : undefined) ?? this.#pace.step();
      if (wait !== undefined) return wait.then(() => this.#pushSync(batch, reader, i + 1));
    }
    this.#endBatch(batch);
  }

  /** Rows from `at` on, of which the first was called already. */
  async #pushAsync(batch: RecordBatch, reader: RowReader, at: number, first: Promise<Answer>): Promise<void> {
    const { call } = this;
    const calls = new InOrder<Answer>(this.maxInFlight, async (answer, error) => {
      if (error !== null) throw error.thrown;
      if (answer?.keep === true) await this.#keep(batch, answer.index);
      if (this.#enough) calls.abandon();
    });
    calls.add(first);
    for (let i = at + 1; i < batch.length; i++) {
      await calls.room();
      this.scope.check();
      if (this.#enough) break;
      const row = this.#read(reader, i);
      const asked = async () => call(row);
      calls.add(this.#ask(asked(), i, row));
    }
    await calls.drain();
    this.#endBatch(batch);
  }

  async #ask(answer: Promise<unknown>, index: number, row: unknown): Promise<Answer> {
    try {
      return { index, keep: Boolean(await answer) };
    } catch (thrown) {
      this.failures.row(thrown, this.#seen + index, row);
      return { index, keep: false };
    }
  }

  #read(reader: RowReader, i: number): object {
    try {
      return reader.row(i);
    } catch (thrown) {
      throw this.failures.unreadable(thrown, this.#seen + i);
    }
  }

  /** Rows that follow each other are copied at one go. */
  #keep(batch: RecordBatch, i: number): void | Promise<void> {
    if (i !== this.#end) {
      this.#copyRun(batch);
      this.#start = i;
    }
    this.#end = i + 1;
    if (this.#kept.rows + this.#end - this.#start < this.#piece.rows) return;
    this.#copyRun(batch);
    return this.#handOn();
  }

  #copyRun(batch: RecordBatch): void {
    if (this.#end > this.#start) this.#kept.append(batch, this.#start, this.#end);
    this.#start = this.#end;
  }

  #endBatch(batch: RecordBatch): void {
    this.#copyRun(batch);
    this.#start = 0;
    this.#end = 0;
    this.#seen += batch.length;
  }

  #handOn(): void | Promise<void> {
    const piece = this.#kept.finish();
    if (piece === null) return;
    const wait = this.next.push(piece);
    if (wait !== undefined) return wait.then(() => this.#handedOn());
    this.#handedOn();
  }

  #handedOn(): void {
    this.#enough = this.next.wanted <= 0;
    this.#piece.handedOn();
  }
}
