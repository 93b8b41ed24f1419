/**
 * map and flatMap: the user's function, called once for each row. The synchronous loop is the hot path of the whole
 * project: a generated reader makes the row, a generated builder takes the result, and nothing else is allocated. The
 * first promise that a call returns switches the step to many calls at once, in order (A4).
 */
import {
  compileRows,
  type DeclaredTypes,
  type RecordBatch,
  type RowReader,
  type Schema,
  schemaEquals,
  type ValueOptions,
} from "../../arrow/index.ts";
import type { PassedColumns } from "../../protocol/index.ts";
import { isPromise } from "../../realm/index.ts";
import type { Link, TaskScope } from "../link.ts";
import { type Answer, answerBytes, answerOf, dropAnswer } from "./answer.ts";
import type { Failures } from "./failures.ts";
import { InOrder } from "./in-order.ts";
import { BegunIterator, isAsyncIterable } from "./iterators.ts";
import { ManyRows } from "./many-rows.ts";
import { markedRow } from "./marked-row.ts";
import { Pace } from "./pace.ts";
import { passedTypes, sameTypes } from "./passed-types.ts";
import { RowOutput } from "./row-output.ts";

interface GivenRow {
  readonly index: number;
  readonly row: unknown;
}

interface RowFunction {
  readonly form: "map" | "flatMap";
  readonly call: (row: unknown) => unknown;
  readonly values: ValueOptions;
  readonly declared: DeclaredTypes | undefined;
  readonly passes: PassedColumns | undefined;
  readonly maxInFlight: number;
}

export class RowFunctionStep implements Link {
  readonly takesEach = false;
  readonly #calls: InOrder<Answer<GivenRow>>;
  readonly #output: RowOutput;
  readonly #pace: Pace;
  readonly #many: ManyRows;
  /** The types that the output uses for columns that pass through. */
  #passed: DeclaredTypes = new Map();
  #schema: Schema | null = null;
  #reader: RowReader | null = null;
  /** Rows before the present batch. */
  #seen = 0;
  #async = false;

  constructor(
    private readonly fn: RowFunction,
    private readonly failures: Failures,
    private readonly next: Link,
    private readonly scope: TaskScope,
  ) {
    this.#output = new RowOutput(fn.declared, next);
    this.#pace = new Pace(scope);
    this.#many = new ManyRows(this.#output, failures, this.#pace);
    this.#calls = new InOrder<Answer<GivenRow>>(fn.maxInFlight, {
      take: (answer) => this.#settle(answer),
      bytes: (answer) => answerBytes(answer, answer.given.row),
      drop: dropAnswer,
    });
  }

  get wanted(): number {
    return this.next.wanted;
  }

  get held(): number {
    return this.#output.rows;
  }

  push(batch: RecordBatch): void | Promise<void> {
    if (this.#schema === null || !schemaEquals(this.#schema, batch.schema)) {
      const wait = this.#adopt(batch.schema);
      if (wait !== undefined) return wait.then(() => this.push(batch));
    }
    return this.#goOn(this.#readerOf(batch), 0, batch.length);
  }

  async end(): Promise<void> {
    await this.#handOnAll();
    await this.next.end();
  }

  close(): void {
    this.#calls.abandon();
    this.next.close();
  }

  #readerOf(batch: RecordBatch): RowReader {
    this.#reader ??= compileRows(batch.schema, this.fn.values);
    this.#reader.load(batch);
    return this.#reader;
  }

  /** From here on rows have another schema. */
  #adopt(schema: Schema): void | Promise<void> {
    const passed = passedTypes(this.fn.passes, schema);
    if (!sameTypes(passed, this.#passed)) {
      if (this.#async || this.#output.rows > 0) return this.#handOnAll();
      this.#passed = passed;
      this.#output.restart(passed);
    }
    this.#schema = schema;
    this.#reader = null;
  }

  /** Afterwards no call is under way. */
  async #handOnAll(): Promise<void> {
    await this.#calls.drain();
    this.#async = false;
    await this.#output.handOn();
  }

  #goOn(reader: RowReader, from: number, rows: number): void | Promise<void> {
    return this.#async ? this.#pushAsync(reader, from, rows) : this.#pushSync(reader, from, rows);
  }

  #pushSync(reader: RowReader, from: number, rows: number): void | Promise<void> {
    for (let i = from; i < rows && !this.#output.enough; i++) {
      const wait = this.#callSync(markedRow(this.#read(reader, i), this.#seen + i), i) ?? this.#pace.step();
      if (wait !== undefined) return wait.then(() => this.#goOn(reader, i + 1, rows));
      if (this.#async) return this.#pushAsync(reader, i + 1, rows);
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
    // Called by its own name: called as a member, it would have our name in the user's stack.
    const { call } = this.fn;
    let result: unknown;
    try {
      result = call(row);
    } catch (thrown) {
      this.failures.row(thrown, this.#seen + i, row);
      return;
    }
    if (isPromise(result) || (this.fn.form === "flatMap" && isAsyncIterable(result))) {
      this.#async = true;
      this.#calls.add(answerOf({ index: this.#seen + i, row }, this.#started(result)));
    } else return this.#take(result, this.#seen + i, row);
  }

  /** Takes the result of a call. An error while handing it on is no failure of the call. */
  #take(result: unknown, index: number, row: unknown): void | Promise<void> {
    if (this.fn.form === "flatMap") return this.#many.take(result, index, row);
    try {
      this.#output.append(result);
    } catch (thrown) {
      this.failures.row(thrown, index, row);
      return;
    }
    if (this.#output.isDue) return this.#output.handOnFull();
  }

  async #pushAsync(reader: RowReader, from: number, rows: number): Promise<void> {
    for (let i = from; i < rows && !this.#output.enough; i++) {
      await this.#calls.room();
      this.scope.check();
      if (this.#output.enough) return;
      const row = this.#read(reader, i);
      this.#calls.add(answerOf({ index: this.#seen + i, row }, this.#start(row)));
    }
    this.#seen += rows;
  }

  async #start(row: unknown): Promise<unknown> {
    const { call } = this.fn;
    return this.fn.form === "map" ? call(row) : this.#started(call(row));
  }

  async #started(result: unknown): Promise<unknown> {
    const value = await result;
    return this.fn.form === "flatMap" && isAsyncIterable(value) ? BegunIterator.begin(value) : value;
  }

  #settle({ given: { index, row }, value, failed }: Answer<GivenRow>): void | Promise<void> {
    if (failed) {
      this.failures.row(value, index, row);
      return;
    }
    const wait = this.#take(value, index, row);
    if (wait !== undefined) return wait.then(() => this.#abandonIfEnough());
    this.#abandonIfEnough();
  }

  #abandonIfEnough(): void {
    if (this.#output.enough) this.#calls.abandon();
  }
}
