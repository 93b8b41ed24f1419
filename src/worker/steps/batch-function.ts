/**
 * mapBatches: the user's function (or a class instance's `call`) once per batch of `batchSize` rows, bundled across
 * whatever pieces come in. It may answer with columns, rows or an Arrow table, with several of them from a
 * generator, or with a promise of any of these.
 */
import {
  BlockBuilder,
  ColumnAssembler,
  type Columns,
  columnsToBatch,
  type DeclaredTypes,
  fromArrowTable,
  type RecordBatch,
  RowBuilder,
  type Schema,
  schemaEquals,
  toFlechette,
  toRows,
  type ValueOptions,
} from "../../arrow/index.ts";
import { RowShapeError } from "../../errors/index.ts";
import type { PassedColumns } from "../../protocol/index.ts";
import type { Stage, TaskScope } from "../stage.ts";
import type { Failures } from "./failures.ts";
import { InOrder } from "./in-order.ts";
import { passedTypes } from "./passed-types.ts";
import { isAsyncIterable } from "./row-function.ts";

export interface BatchFunction {
  readonly call: (batch: unknown) => unknown;
  readonly format: "columns" | "rows" | "arrow";
  readonly batchSize: number;
  readonly values: ValueOptions;
  readonly declared: DeclaredTypes | undefined;
  readonly passes: PassedColumns | undefined;
  readonly maxInFlight: number;
}

/** A batch on its way to the function: what it is given, and which rows those are. */
interface Given {
  readonly value: unknown;
  readonly index: number;
  readonly rows: number;
}

interface Answer extends Given {
  readonly result: unknown;
}

export class BatchFunctionStep implements Stage {
  readonly #rows: RowBuilder;
  readonly #calls: InOrder<Answer>;
  readonly #bundle = new BlockBuilder();
  #assembler: ColumnAssembler | null = null;
  #schema: Schema | null = null;
  #passed: DeclaredTypes = new Map();
  #seen = 0;
  #given = 0;

  constructor(
    private readonly fn: BatchFunction,
    private readonly failures: Failures,
    private readonly next: Stage,
    private readonly scope: TaskScope,
  ) {
    this.#rows = new RowBuilder(fn.declared);
    this.#calls = new InOrder<Answer>(fn.maxInFlight, (answer, error) => this.#settle(answer, error));
  }

  get operator(): string {
    return this.failures.operator;
  }

  /** Rows that the batch which is handed on now was made of. */
  get given(): number {
    return this.#given;
  }

  push(batch: RecordBatch): void | Promise<void> {
    if (this.fn.format !== "columns") return this.#pushBundled(batch);
    if (this.#schema === null) this.#start(batch.schema);
    else if (!schemaEquals(this.#schema, batch.schema)) return this.#changeSchema(batch);
    this.#assembler?.push(batch);
    return this.#callFull();
  }

  async end(): Promise<void> {
    const last = this.#assembler?.flush() ?? null;
    if (last !== null) await this.#call(this.#asGiven(last, lengthOf(last)));
    if (this.#bundle.rows > 0) await this.#callBundle();
    await this.#calls.drain();
    await this.next.end();
  }

  close(): void {
    this.next.close();
  }

  #start(schema: Schema): void {
    this.#schema = schema;
    this.#passed = passedTypes(this.fn.passes, schema);
    this.#assembler = new ColumnAssembler(schema, this.fn.values, this.fn.batchSize);
  }

  async #changeSchema(batch: RecordBatch): Promise<void> {
    const last = this.#assembler?.flush() ?? null;
    if (last !== null) await this.#call(this.#asGiven(last, lengthOf(last)));
    // Answers still under way are of the schema before.
    await this.#calls.drain();
    this.#start(batch.schema);
    this.#assembler?.push(batch);
    await this.#callFull();
  }

  /** Stays synchronous as long as the function and what follows it do. */
  #callFull(): void | Promise<void> {
    for (let columns = this.#assembler?.next() ?? null; columns !== null; columns = this.#assembler?.next() ?? null) {
      const wait = this.#call(this.#asGiven(columns, this.fn.batchSize));
      if (wait !== undefined) return wait.then(() => this.#callFull());
    }
  }

  async #pushBundled(batch: RecordBatch): Promise<void> {
    for (let start = 0; start < batch.length; ) {
      const end = Math.min(batch.length, start + this.fn.batchSize - this.#bundle.rows);
      this.#bundle.append(batch, start, end);
      start = end;
      if (this.#bundle.rows >= this.fn.batchSize) await this.#callBundle();
    }
  }

  #callBundle(): void | Promise<void> {
    const batch = this.#bundle.finish();
    if (batch === null) return;
    const value = this.fn.format === "rows" ? toRows(batch, this.fn.values) : toFlechette([batch], this.fn.values);
    return this.#call(this.#asGiven(value, batch.length));
  }

  #asGiven(value: unknown, rows: number): Given {
    const given = { value, index: this.#seen, rows };
    this.#seen += rows;
    return given;
  }

  #call(given: Given): void | Promise<void> {
    this.scope.check();
    const { call } = this.fn;
    let result: unknown;
    try {
      result = call(given.value);
    } catch (thrown) {
      this.failures.batch(thrown, given.index, given.rows, given.value);
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
    this.failures.batch(settled.result, settled.index, settled.rows, settled.value);
  }

  #take(answer: Answer): void | Promise<void> {
    const { result } = answer;
    this.#given = answer.rows;
    if (isAsyncIterable(result)) return this.#takeAsync(answer, result);
    if (isGenerator(result)) return this.#takeMany(answer, result);
    let batches: readonly RecordBatch[];
    try {
      batches = this.#toBatches(result);
    } catch (thrown) {
      this.failures.batch(thrown, answer.index, answer.rows, answer.value);
      return;
    }
    const [first] = batches;
    if (batches.length === 1 && first !== undefined) return first.length === 0 ? undefined : this.next.push(first);
    return this.#handOn(batches);
  }

  /** What the generator gave before it threw is handed on already. */
  async #takeMany(answer: Answer, parts: Iterator<unknown>): Promise<void> {
    for (;;) {
      let batches: readonly RecordBatch[];
      try {
        const part = parts.next();
        if (part.done === true) return;
        batches = this.#toBatches(part.value);
      } catch (thrown) {
        this.failures.batch(thrown, answer.index, answer.rows, answer.value);
        return;
      }
      await this.#handOn(batches);
    }
  }

  async #takeAsync(answer: Answer, parts: AsyncIterable<unknown>): Promise<void> {
    const iterator = parts[Symbol.asyncIterator]();
    for (;;) {
      let batches: readonly RecordBatch[];
      try {
        const part = await iterator.next();
        if (part.done === true) return;
        batches = this.#toBatches(part.value);
      } catch (thrown) {
        this.failures.batch(thrown, answer.index, answer.rows, answer.value);
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
    if (isArrowTable(result)) return fromArrowTable(result);
    if (typeof result === "object" && result !== null) {
      return [columnsToBatch(result as Columns, this.fn.declared, this.#passed)];
    }
    throw new RowShapeError(
      `a batch function must return columns ({ name: array }), an array of rows or an Arrow table; this returned ${
        result === null ? "null" : typeof result
      }.`,
      null,
    );
  }

  #rowsToBatches(rows: readonly unknown[]): readonly RecordBatch[] {
    try {
      for (const row of rows) this.#rows.append(row);
    } catch (thrown) {
      // The batch fails as a whole: its first rows must not turn up in the next one.
      if (this.#rows.rows > 0) this.#rows.finish();
      throw thrown;
    }
    return rows.length === 0 ? [] : [this.#rows.finish()];
  }
}

function lengthOf(columns: Columns): number {
  for (const name in columns) return columns[name]?.length ?? 0;
  return 0;
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
