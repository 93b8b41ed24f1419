/**
 * Calls of a function that is given many rows at once, and what comes back of them: columns, rows or an Arrow table, several of
 * them from a generator, or a promise of any of these. Answers are handed on in the order of the calls. Which rows a call
 * gets is not decided here.
 */
import {
  assertNames,
  type Columns,
  columnsToBatch,
  concatBatches,
  type DeclaredTypes,
  fromArrowTable,
  type RecordBatch,
  RowBuilder,
  sliceBatch,
} from "../../arrow/index.ts";
import { RowShapeError } from "../../errors/index.ts";
import type { Stage, TaskScope } from "../stage.ts";
import type { Failures } from "./failures.ts";
import { InOrder } from "./in-order.ts";
import { isAsyncIterable } from "./row-function.ts";

/** What a call is given, and which rows those are. */
export interface Given {
  readonly value: unknown;
  readonly index: number;
  readonly rows: number;
}

interface Answer extends Given {
  readonly result: unknown;
}

export interface Calls {
  readonly call: (value: unknown) => unknown;
  readonly declared: DeclaredTypes | undefined;
  readonly maxInFlight: number;
  /** Where the calls are many and small: answers of so many rows together are handed on at once, if they are rows. */
  readonly rowsTogether: number;
  /** How a failed call is told of. */
  readonly name: (given: Given) => string;
}

const NOTHING: readonly RecordBatch[] = [];
const MOST_BYTES_TOGETHER = 1 << 20;

export class BatchCalls {
  /** Types of columns that are returned as they came. */
  passed: DeclaredTypes = new Map();
  readonly #rows: RowBuilder;
  readonly #calls: InOrder<Answer>;
  /** Rows that were held back when a later call failed; in memory of their own. */
  readonly #kept: RecordBatch[] = [];
  #given = 0;

  constructor(
    private readonly fn: Calls,
    private readonly failures: Failures,
    private readonly next: Stage,
    private readonly scope: TaskScope,
  ) {
    this.#rows = new RowBuilder(fn.declared);
    this.#calls = new InOrder<Answer>(fn.maxInFlight, (answer, error) => this.#settle(answer, error));
  }

  /** Rows that the batch which is handed on now was made of. */
  get given(): number {
    return this.#given;
  }

  /** Nothing is under way or held back after it. */
  async drain(): Promise<void> {
    await this.#calls.drain();
    await this.#handOnRows();
  }

  /** One call and all of its answer, whose failure is the caller's to judge. */
  async whole(value: unknown): Promise<{ readonly thrown: unknown } | null> {
    const { call } = this.fn;
    let result: unknown;
    try {
      result = await call(value);
    } catch (thrown) {
      return { thrown };
    }
    let failure: { readonly thrown: unknown } | null = null;
    await this.#take({ value, index: 0, rows: 0, result }, (thrown) => {
      failure = { thrown };
    });
    return failure;
  }

  call(given: Given): void | Promise<void> {
    this.scope.check();
    const { call } = this.fn;
    let result: unknown;
    try {
      result = call(given.value);
    } catch (thrown) {
      this.#failed(thrown, given);
      return;
    }
    if (result instanceof Promise) return this.#enqueue(given, result);
    return this.#take({ ...given, result });
  }

  async #enqueue(given: Given, result: Promise<unknown>): Promise<void> {
    const answer = result.then(
      (value): Answer => ({ ...given, result: value }),
      (thrown) => {
        throw { ...given, result: thrown } satisfies Answer;
      },
    );
    this.#calls.add(answer);
    await this.#calls.room();
  }

  #settle(answer: Answer | undefined, error: { readonly thrown: unknown } | null): void | Promise<void> {
    const settled = (error === null ? answer : error.thrown) as Answer;
    if (error === null) return this.#take(settled);
    this.#failed(settled.result, settled);
  }

  #take(
    answer: Answer,
    failed: (thrown: unknown) => void = (thrown) => this.#failed(thrown, answer),
  ): void | Promise<void> {
    const { result } = answer;
    this.#given = answer.rows;
    if (isAsyncIterable(result)) return this.#takeAsync(result, failed);
    if (isGenerator(result)) return this.#takeMany(result, failed);
    let batches: readonly RecordBatch[];
    try {
      batches = this.#toBatches(result);
    } catch (thrown) {
      failed(thrown);
      return;
    }
    const [first] = batches;
    if (batches.length === 0) return;
    if (batches.length === 1 && first !== undefined) return first.length === 0 ? undefined : this.next.push(first);
    return this.#handOn(batches);
  }

  /** What the generator gave before it threw is handed on already. */
  async #takeMany(parts: Iterator<unknown>, failed: (thrown: unknown) => void): Promise<void> {
    for (;;) {
      let batches: readonly RecordBatch[];
      try {
        const part = parts.next();
        if (part.done === true) return;
        batches = this.#toBatches(part.value);
      } catch (thrown) {
        failed(thrown);
        return;
      }
      await this.#handOn(batches);
    }
  }

  async #takeAsync(parts: AsyncIterable<unknown>, failed: (thrown: unknown) => void): Promise<void> {
    const iterator = parts[Symbol.asyncIterator]();
    for (;;) {
      let batches: readonly RecordBatch[];
      try {
        const part = await iterator.next();
        if (part.done === true) return;
        batches = this.#toBatches(part.value);
      } catch (thrown) {
        failed(thrown);
        return;
      }
      await this.#handOn(batches);
    }
  }

  async #handOn(batches: readonly RecordBatch[]): Promise<void> {
    for (const batch of batches) if (batch.length > 0) await this.next.push(batch);
  }

  #toBatches(result: unknown): readonly RecordBatch[] {
    if (Array.isArray(result)) return this.#rowsToBatches(result);
    if (isArrowTable(result)) return this.#afterRows(fromArrowTable(result));
    if (typeof result === "object" && result !== null) {
      assertNames(Object.keys(result));
      return this.#afterRows([columnsToBatch(result as Columns, this.fn.declared, this.passed)]);
    }
    throw new RowShapeError(
      `a batch function must return columns ({ name: array }), an array of rows or an Arrow table; this returned ${
        result === null ? "null" : typeof result
      }.`,
      null,
    );
  }

  /** Rows are held back until there are enough of them. A call fails as a whole: its first rows do not turn up among others. */
  #rowsToBatches(rows: readonly unknown[]): readonly RecordBatch[] {
    const builder = this.#rows;
    const before = builder.rows;
    try {
      for (const row of rows) builder.append(row);
    } catch (thrown) {
      const all = builder.rows > 0 ? builder.finish() : null;
      if (all !== null && before > 0) this.#kept.push(concatBatches([sliceBatch(all, 0, before)]));
      throw thrown;
    }
    if (builder.rows < this.fn.rowsTogether && builder.byteLength < MOST_BYTES_TOGETHER) return NOTHING;
    return this.#afterRows(NOTHING);
  }

  /** What was held back goes before what is no rows. */
  #afterRows(batches: readonly RecordBatch[]): readonly RecordBatch[] {
    if (this.#rows.rows > 0) this.#kept.push(this.#rows.finish());
    return this.#kept.length === 0 ? batches : [...this.#kept.splice(0), ...batches];
  }

  async #handOnRows(): Promise<void> {
    await this.#handOn(this.#afterRows(NOTHING));
  }

  #failed(thrown: unknown, given: Given): void {
    this.failures.batch(thrown, given.index, given.rows, given.value, this.fn.name(given));
  }
}

function isGenerator(value: unknown): value is Iterator<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Symbol.iterator in value &&
    "next" in value &&
    typeof value.next === "function"
  );
}

/** A flechette or apache-arrow table, or IPC bytes. */
function isArrowTable(value: unknown): boolean {
  if (value instanceof Uint8Array) return true;
  return typeof value === "object" && value !== null && "schema" in value && "numRows" in value && "getChild" in value;
}
