/**
 * filter(fn): the user's function decides which rows stay. Rows are never rebuilt, so all types stay exactly as they
 * were. Rows with asynchronous answers are copied, because an answer comes after its batch is gone.
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
import type { Bytes } from "../../protocol/index.ts";
import { isPromise } from "../../realm/index.ts";
import type { Link, TaskScope } from "../link.ts";
import { type Answer, answerBytes, answerOf } from "./answer.ts";
import type { Failures } from "./failures.ts";
import { InOrder } from "./in-order.ts";
import { OnlyRead } from "./only-read.ts";
import { Pace } from "./pace.ts";
import { PieceRows } from "./piece-rows.ts";

const PIECE_ROWS = 4096;
/**
 * How many rows are copied at once for calls under way: few, because they stay until the last of their answers has
 * come.
 */
const ASKED_ROWS = 64;

/** Rows that outlive the push that brought them. */
interface OwnRows {
  readonly batch: RecordBatch;
  readonly rowBytes: Bytes;
}

/** A row of a call: where it is, its number in the task, and its values for messages. */
interface AskedRow {
  readonly from: OwnRows;
  readonly at: number;
  readonly index: number;
  readonly row: unknown;
}

interface CalledRow {
  readonly row: unknown;
  readonly answer: Promise<unknown>;
}

export class FilterFunctionStep implements Link {
  readonly takesEach = false;
  readonly #kept = new BlockBuilder();
  /** Rows [start, end) of the batch stay, and are not copied yet. */
  #batch: RecordBatch | null = null;
  #start = 0;
  #end = 0;
  readonly #piece: PieceRows;
  readonly #pace: Pace;
  readonly #calls: InOrder<Answer<AskedRow>>;
  #async = false;
  #enough = false;
  #schema: Schema | null = null;
  #reader: RowReader | null = null;
  #seen = 0;

  readonly #onlyRead: OnlyRead;

  constructor(
    private readonly call: (row: unknown) => unknown,
    private readonly values: ValueOptions,
    reads: readonly string[] | undefined,
    maxInFlight: number,
    private readonly failures: Failures,
    private readonly next: Link,
    private readonly scope: TaskScope,
  ) {
    this.#piece = new PieceRows(next, PIECE_ROWS);
    this.#pace = new Pace(scope);
    this.#onlyRead = new OnlyRead(reads, values);
    this.#calls = new InOrder<Answer<AskedRow>>(maxInFlight, {
      take: (answer) => this.#settle(answer),
      bytes: (answer) => answer.given.from.rowBytes + answerBytes(answer, answer.given.row),
      drop: () => {},
    });
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
    return this.#async ? this.#pushAsync(batch, this.#reader, 0) : this.#pushSync(batch, this.#reader, 0);
  }

  async end(): Promise<void> {
    await this.#calls.drain();
    this.#copyRun();
    if (this.#kept.rows > 0) await this.#handOn();
    await this.next.end();
  }

  close(): void {
    this.next.close();
  }

  #pushSync(batch: RecordBatch, reader: RowReader, from: number): void | Promise<void> {
    // Called by its own name: called as a member, it would have our name in the user's stack.
    const { call } = this;
    for (let i = from; i < batch.length && !this.#enough; i++) {
      const row = this.#read(batch, reader, i);
      let keep: unknown = false;
      try {
        keep = call(row);
      } catch (thrown) {
        this.failures.row(thrown, this.#seen + i, row);
      }
      if (isPromise(keep)) {
        this.#async = true;
        this.#copyRun();
        return this.#pushAsync(batch, reader, i, { row, answer: Promise.resolve(keep) });
      }
      const wait = (keep ? this.#keep(batch, i) : undefined) ?? this.#pace.step();
      if (wait !== undefined) return wait.then(() => this.#pushSync(batch, reader, i + 1));
    }
    this.#copyRun();
    this.#seen += batch.length;
  }

  /** Rows from `start` on. The function may already have been called with the first one. */
  async #pushAsync(batch: RecordBatch, reader: RowReader, start: number, called?: CalledRow): Promise<void> {
    for (let first = start; first < batch.length && !this.#enough; first += ASKED_ROWS) {
      const end = Math.min(batch.length, first + ASKED_ROWS);
      await this.#ask(ownRows(batch, first, end), batch, first, reader, first === start ? called : undefined);
    }
    this.#seen += batch.length;
  }

  /** Calls the function with the rows from `first` on in their batch. */
  async #ask(
    from: OwnRows,
    batch: RecordBatch,
    first: number,
    reader: RowReader,
    called: CalledRow | undefined,
  ): Promise<void> {
    for (let at = 0; at < from.batch.length; at++) {
      const index = this.#seen + first + at;
      if (at === 0 && called !== undefined) {
        this.#calls.add(answerOf({ from, at, index, row: called.row }, called.answer));
        continue;
      }
      await this.#calls.room();
      this.scope.check();
      if (this.#enough) return;
      const row = this.#read(batch, reader, first + at);
      this.#calls.add(answerOf({ from, at, index, row }, this.#called(row)));
    }
  }

  async #called(row: unknown): Promise<unknown> {
    const { call } = this;
    return call(row);
  }

  #settle({ given: { from, at, index, row }, value, failed }: Answer<AskedRow>): void | Promise<void> {
    if (failed) this.failures.row(value, index, row);
    else if (value) return this.#keep(from.batch, at);
  }

  #read(batch: RecordBatch, reader: RowReader, i: number): object {
    try {
      return reader.row(i);
    } catch (thrown) {
      const row = this.#onlyRead.row(batch, i, thrown);
      if (row !== null) return row;
      throw this.failures.unreadable(thrown, this.#seen + i);
    }
  }

  /** Rows that follow each other are copied at once. */
  #keep(batch: RecordBatch, i: number): void | Promise<void> {
    if (i !== this.#end || batch !== this.#batch) {
      this.#copyRun();
      this.#batch = batch;
      this.#start = i;
    }
    this.#end = i + 1;
    if (this.#kept.rows + this.#end - this.#start < this.#piece.rows) return;
    this.#copyRun();
    return this.#handOn();
  }

  /** The batch is not needed afterwards. */
  #copyRun(): void {
    if (this.#batch !== null) this.#kept.append(this.#batch, this.#start, this.#end);
    this.#batch = null;
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
    if (this.#enough) this.#calls.abandon();
  }
}

function ownRows(batch: RecordBatch, start: number, end: number): OwnRows {
  const builder = new BlockBuilder();
  builder.append(batch, start, end);
  const rowBytes = builder.byteLength / (end - start);
  const own = builder.finish();
  if (own === null) throw new Error(`rows ${start} to ${end} were not copied`);
  return { batch: own, rowBytes };
}
