/**
 * Calls of a function that gets many rows at once, and their answers: columns, rows or an Arrow table, several of these
 * from a generator, or a promise of any of these. Answers are handed on in the order of the calls. The caller decides
 * which rows a call gets.
 */
import {
  assertNames,
  type Columns,
  columnsToBatch,
  concatBatches,
  type DeclaredTypes,
  fromArrowTable,
  inRow,
  type RecordBatch,
  RowBuilder,
  sliceBatch,
} from "../../arrow/index.ts";
import { RowShapeError } from "../../errors/index.ts";
import { isPromise, isTypedArray, isUint8Array } from "../../realm/index.ts";
import type { Link, TaskScope } from "../link.ts";
import { type Answer, answerBytes, answerOf, dropAnswer } from "./answer.ts";
import type { Failures } from "./failures.ts";
import { InOrder } from "./in-order.ts";
import { BegunIterator, isAsyncIterable, isGenerator } from "./iterators.ts";
import { type Failure, ManyBatches } from "./many-batches.ts";
import { sameTypes } from "./passed-types.ts";

/** What a call gets, and which rows these are. */
export interface Given {
  readonly value: unknown;
  readonly index: number;
  readonly rows: number;
}

interface Calls {
  readonly call: (value: unknown) => unknown;
  readonly declared: DeclaredTypes | undefined;
  readonly maxInFlight: number;
  /** For many small calls: answers that are rows are collected until there are this many. */
  readonly rowsTogether: number;
  /** An object whose values are not all arrays is one row. */
  readonly takesRow: boolean;
  /** The name of a call in errors. */
  readonly name: (given: Given) => string;
}

const NOTHING: readonly RecordBatch[] = [];
const MOST_BYTES_TOGETHER = 1 << 20;

export class BatchCalls {
  /** Types of columns that are returned unchanged. */
  #passed: DeclaredTypes = new Map();
  #rows: RowBuilder;
  readonly #calls: InOrder<Answer<Given>>;
  /** Rows that were held back when a later call failed, in memory of their own. */
  readonly #kept: RecordBatch[] = [];
  #given = 0;

  constructor(
    private readonly fn: Calls,
    private readonly failures: Failures,
    private readonly next: Link,
    private readonly scope: TaskScope,
  ) {
    this.#rows = new RowBuilder(fn.declared);
    this.#calls = new InOrder<Answer<Given>>(fn.maxInFlight, {
      take: (answer) => this.#settle(answer),
      bytes: (answer) => answerBytes(answer, answer.given.value),
      drop: dropAnswer,
    });
  }

  /** How many rows went into the batch that is handed on now. */
  get given(): number {
    return this.#given;
  }

  /**
   * From here on, columns that pass through have these types. No call may be under way and no row held back: see
   * `drain`.
   */
  restart(passed: DeclaredTypes): void {
    if (sameTypes(passed, this.#passed)) return;
    this.#passed = passed;
    this.#rows = new RowBuilder(this.fn.declared, passed);
  }

  /** The task is over, whatever is under way. */
  close(): void {
    this.#calls.abandon();
  }

  /** Afterwards no call is under way and no row is held back. */
  async drain(): Promise<void> {
    await this.#calls.drain();
    await this.#handOnRows();
  }

  /** One call with all of its answer. The caller judges its failure. */
  async whole(value: unknown): Promise<Failure | null> {
    const { call } = this.fn;
    let result: unknown;
    try {
      result = await call(value);
    } catch (thrown) {
      return { thrown, handedOn: 0 };
    }
    let failure: Failure | null = null;
    await this.#take({ value, index: 0, rows: 0 }, result, (failed) => {
      failure = failed;
    });
    return failure;
  }

  call(given: Given): void | Promise<void> {
    this.scope.check();
    if (this.next.wanted <= 0) return;
    const { call } = this.fn;
    let result: unknown;
    try {
      result = call(given.value);
    } catch (thrown) {
      this.#failed({ thrown, handedOn: 0 }, given);
      return;
    }
    if (isPromise(result)) return this.#enqueue(given, Promise.resolve(result));
    if (isAsyncIterable(result)) return this.#enqueue(given, BegunIterator.begin(result));
    return this.#take(given, result) ?? this.scope.turn();
  }

  async #enqueue(given: Given, result: Promise<unknown>): Promise<void> {
    this.#calls.add(answerOf(given, result));
    await this.#calls.room();
  }

  async #settle({ given, value, failed }: Answer<Given>): Promise<void> {
    if (failed) this.#failed({ thrown: value, handedOn: 0 }, given);
    else await this.#take(given, value);
    if (this.next.wanted <= 0) this.#calls.abandon();
  }

  #take(
    given: Given,
    result: unknown,
    failed: (failure: Failure) => void = (failure) => this.#failed(failure, given),
  ): void | Promise<void> {
    this.#given = given.rows;
    if (isAsyncIterable(result)) return this.#takeMany(result[Symbol.asyncIterator](), failed);
    if (isGenerator(result)) return this.#takeMany(result, failed);
    let batches: readonly RecordBatch[];
    try {
      batches = this.#toBatches(result);
    } catch (thrown) {
      failed({ thrown, handedOn: 0 });
      return;
    }
    const [first] = batches;
    if (batches.length === 0) return;
    if (batches.length === 1 && first !== undefined) return first.length === 0 ? undefined : this.next.push(first);
    return this.#handOn(batches);
  }

  async #takeMany(
    parts: Iterator<unknown> | AsyncIterator<unknown>,
    failed: (failure: Failure) => void,
  ): Promise<void> {
    const { drops } = this.failures;
    // Rows of earlier calls that are held back are handed on, whatever becomes of this call.
    if (drops) await this.#handOnRows();
    const toBatches = (part: unknown) => {
      const batches = this.#toBatches(part);
      return drops ? [...batches, ...this.#afterRows(NOTHING)] : batches;
    };
    const failure = await new ManyBatches(toBatches, this.next, this.scope, drops).take(parts);
    if (failure !== null) failed(failure);
  }

  async #handOn(batches: readonly RecordBatch[]): Promise<void> {
    for (const batch of batches) if (batch.length > 0) await this.next.push(batch);
  }

  #toBatches(result: unknown): readonly RecordBatch[] {
    if (Array.isArray(result)) return this.#rowsToBatches(result);
    if (this.fn.takesRow && isRow(result)) return this.#rowsToBatches([result]);
    if (isArrowTable(result)) return this.#afterRows(fromArrowTable(result));
    if (typeof result === "object" && result !== null) {
      assertNames(Object.keys(result));
      return this.#afterRows([columnsToBatch(result as Columns, this.fn.declared, this.#passed)]);
    }
    throw new RowShapeError(
      `a batch function must return columns ({ name: array }), an array of rows or an Arrow table; it returned ${
        result === null ? "null" : typeof result
      }.`,
      null,
    );
  }

  /** Holds rows back until there are enough. A call fails as a whole: its first rows must not appear among others. */
  #rowsToBatches(rows: readonly unknown[]): readonly RecordBatch[] {
    const builder = this.#rows;
    const before = builder.rows;
    try {
      for (const row of rows) builder.append(row);
    } catch (thrown) {
      const all = builder.rows > 0 ? builder.finish() : null;
      if (all !== null && before > 0) this.#kept.push(concatBatches([sliceBatch(all, 0, before)]));
      throw inRow(thrown, all === null ? 0 : all.length - before, "the result");
    }
    if (builder.rows < Math.min(this.fn.rowsTogether, this.next.wanted) && builder.byteLength < MOST_BYTES_TOGETHER)
      return NOTHING;
    return this.#afterRows(NOTHING);
  }

  /** Rows that were held back come before an answer of another form. */
  #afterRows(batches: readonly RecordBatch[]): readonly RecordBatch[] {
    if (this.#rows.rows > 0) this.#kept.push(this.#rows.finish());
    return this.#kept.length === 0 ? batches : [...this.#kept.splice(0), ...batches];
  }

  async #handOnRows(): Promise<void> {
    await this.#handOn(this.#afterRows(NOTHING));
  }

  #failed({ thrown, handedOn }: Failure, given: Given): void {
    this.failures.batch(thrown, given.index, given.rows, given.value, this.fn.name(given), handedOn);
  }
}

/** One row, and not columns of several rows. */
function isRow(value: unknown): boolean {
  if (typeof value !== "object" || value === null || isArrowTable(value)) return false;
  return Object.values(value).some((each) => !Array.isArray(each) && !isTypedArray(each));
}

/** A flechette or apache-arrow table, or IPC bytes. */
function isArrowTable(value: unknown): boolean {
  if (isUint8Array(value)) return true;
  return typeof value === "object" && value !== null && "schema" in value && "numRows" in value && "getChild" in value;
}
