/**
 * map and flatMap: the user's function once per row. The synchronous loop is the hot path of the whole project:
 * a generated reader makes the row, a generated builder takes the result, nothing else is allocated. The first
 * promise that comes back turns the step to many calls at once, in order (A4).
 */
import {
  compileRows,
  type DeclaredTypes,
  type RecordBatch,
  RowBuilder,
  type RowReader,
  type Schema,
  schemaEquals,
  type ValueOptions,
} from "../../arrow/index.ts";
import { RowShapeError } from "../../errors/index.ts";
import type { PassedColumns } from "../../protocol/index.ts";
import type { Stage, TaskScope } from "../stage.ts";
import type { Failures } from "./failures.ts";
import { InOrder } from "./in-order.ts";
import { markedRow } from "./marked-row.ts";
import { passedTypes, sameTypes } from "./passed-types.ts";

/** Results are handed on in pieces that stay in the processor's cache. */
const PIECE_ROWS = 4096;
const PIECE_BYTES = 1 << 20;
const CHECK_ROWS = 16;

interface Answer {
  readonly index: number;
  readonly row: unknown;
  readonly value: unknown;
}

export interface RowFunction {
  readonly form: "map" | "flatMap";
  readonly call: (row: unknown) => unknown;
  readonly values: ValueOptions;
  readonly declared: DeclaredTypes | undefined;
  readonly passes: PassedColumns | undefined;
  readonly maxInFlight: number;
}

export class RowFunctionStep implements Stage {
  readonly #calls: InOrder<Answer>;
  #builder: RowBuilder;
  /** What the builder was told of columns that pass. */
  #passed: DeclaredTypes = new Map();
  #schema: Schema | null = null;
  #reader: RowReader | null = null;
  /** Rows seen before the batch at hand. */
  #seen = 0;
  /** At how many rows in the builder its size is looked at next. */
  #checkAt = CHECK_ROWS;
  #async = false;

  constructor(
    private readonly fn: RowFunction,
    private readonly failures: Failures,
    private readonly next: Stage,
    private readonly scope: TaskScope,
  ) {
    this.#builder = new RowBuilder(fn.declared);
    this.#calls = new InOrder<Answer>(fn.maxInFlight, (answer, error) => this.#settle(answer, error));
  }

  push(batch: RecordBatch): void | Promise<void> {
    if (this.#schema === null || !schemaEquals(this.#schema, batch.schema)) {
      const wait = this.#adopt(batch.schema);
      if (wait !== undefined) return wait.then(() => this.push(batch));
    }
    const reader = this.#readerOf(batch);
    if (this.#async) return this.#pushAsync(reader, 0, batch.length);
    return this.#pushSync(reader, 0, batch.length);
  }

  async end(): Promise<void> {
    await this.#handOnAll();
    await this.next.end();
  }

  close(): void {
    this.next.close();
  }

  #readerOf(batch: RecordBatch): RowReader {
    this.#reader ??= compileRows(batch.schema, this.fn.values);
    this.#reader.load(batch);
    return this.#reader;
  }

  /** Rows of another schema come from here on. */
  #adopt(schema: Schema): void | Promise<void> {
    const passed = passedTypes(this.fn.passes, schema);
    if (!sameTypes(passed, this.#passed)) {
      if (this.#async || this.#builder.rows > 0) return this.#handOnAll();
      this.#passed = passed;
      this.#builder = new RowBuilder(this.fn.declared, passed);
    }
    this.#schema = schema;
    this.#reader = null;
  }

  /** Nothing is under way after it. */
  async #handOnAll(): Promise<void> {
    await this.#calls.drain();
    this.#async = false;
    this.#checkAt = CHECK_ROWS;
    if (this.#builder.rows > 0) await this.next.push(this.#builder.finish());
  }

  #pushSync(reader: RowReader, from: number, rows: number): void | Promise<void> {
    for (let i = from; i < rows; i++) {
      const wait = this.#callSync(markedRow(this.#read(reader, i), this.#seen + i), i);
      if (this.#async) return this.#pushAsync(reader, i + 1, rows);
      if (wait !== undefined) return wait.then(() => this.#pushSync(reader, i + 1, rows));
    }
    this.#seen += rows;
  }

  #read(reader: RowReader, i: number): object {
    try {
      return reader.row(i);
    } catch (thrown) {
      throw this.failures.unreadable(thrown, this.#seen + i);
    }
  }

  #callSync(row: unknown, i: number): void | Promise<void> {
    // Called by its own name: as a member of ours it would have our name in the user's stack.
    const { call } = this.fn;
    try {
      const result = call(row);
      if (this.fn.form === "flatMap") return this.#takeMany(result, i, row);
      if (result instanceof Promise) this.#turnAsync(result, i, row);
      else this.#builder.append(result);
    } catch (thrown) {
      this.failures.row(thrown, this.#seen + i, row);
    }
    if (this.#builder.rows >= this.#checkAt) return this.#handOnFull();
  }

  #takeMany(result: unknown, i: number, row: unknown): void | Promise<void> {
    if (!(result instanceof Promise) && !isAsyncIterable(result)) {
      return this.#appendMany(rowsOf(result), this.#seen + i, row);
    }
    this.#turnAsync(Promise.resolve(result), i, row);
  }

  #turnAsync(result: Promise<unknown>, i: number, row: unknown): void {
    this.#async = true;
    this.#calls.add(this.#answer(result, i, row));
  }

  /** Hands on what is built once it is a piece; sizes are looked at every few rows, because looking costs 15 ns. */
  #handOnFull(): void | Promise<void> {
    const builder = this.#builder;
    if (builder.rows < PIECE_ROWS && builder.byteLength < PIECE_BYTES) {
      this.#checkAt = builder.rows + CHECK_ROWS;
      return;
    }
    this.#checkAt = CHECK_ROWS;
    return this.next.push(builder.finish());
  }

  async #pushAsync(reader: RowReader, from: number, rows: number): Promise<void> {
    for (let i = from; i < rows; i++) {
      await this.#calls.room();
      this.scope.check();
      const row = this.#read(reader, i);
      this.#calls.add(this.#answer(this.#start(row), i, row));
    }
    this.#seen += rows;
  }

  async #start(row: unknown): Promise<unknown> {
    const { call } = this.fn;
    return call(row);
  }

  #answer(result: Promise<unknown>, i: number, row: unknown): Promise<Answer> {
    const index = this.#seen + i;
    return result.then(
      (value) => ({ index, row, value }),
      (thrown) => {
        throw { index, row, value: thrown } satisfies Answer;
      },
    );
  }

  #settle(answer: Answer | undefined, error: { readonly thrown: unknown } | null): void | Promise<void> {
    const { index, row, value } = (error === null ? answer : error.thrown) as Answer;
    if (error !== null) {
      this.failures.row(value, index, row);
      return;
    }
    try {
      if (this.fn.form === "map") this.#builder.append(value);
      else if (isAsyncIterable(value)) return this.#appendAsync(value, index, row);
      else return this.#appendMany(rowsOf(value), index, row);
    } catch (thrown) {
      this.failures.row(thrown, index, row);
    }
    if (this.#builder.rows >= this.#checkAt) return this.#handOnFull();
  }

  /** A row may become any number of rows: they are handed on while they come. */
  #appendMany(rows: Iterator<unknown>, index: number, row: unknown): void | Promise<void> {
    for (;;) {
      try {
        const item = rows.next();
        if (item.done === true) return;
        this.#builder.append(item.value);
      } catch (thrown) {
        this.failures.row(thrown, index, row);
        return;
      }
      const wait = this.#builder.rows >= this.#checkAt ? this.#handOnFull() : undefined;
      if (wait !== undefined) return wait.then(() => this.#appendMany(rows, index, row));
    }
  }

  async #appendAsync(rows: AsyncIterable<unknown>, index: number, row: unknown): Promise<void> {
    const iterator = rows[Symbol.asyncIterator]();
    for (;;) {
      try {
        const item = await iterator.next();
        if (item.done === true) return;
        this.#builder.append(item.value);
      } catch (thrown) {
        this.failures.row(thrown, index, row);
        return;
      }
      if (this.#builder.rows >= this.#checkAt) await this.#handOnFull();
    }
  }
}

function rowsOf(result: unknown): Iterator<unknown> {
  if (typeof result === "object" && result !== null && Symbol.iterator in result && !(result instanceof Map)) {
    return (result as Iterable<unknown>)[Symbol.iterator]();
  }
  const came = result === null ? "null" : typeof result;
  throw new RowShapeError(`flatMap must return an array (or another iterable) of rows; this returned ${came}.`, null);
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
