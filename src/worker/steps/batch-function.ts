/**
 * mapBatches: the user's function (or a class instance's `call`), called once for each batch of `batchSize` rows.
 * Batches are assembled across the pieces that come in.
 */
import {
  BlockBuilder,
  ColumnAssembler,
  type Columns,
  type DeclaredTypes,
  type RecordBatch,
  type Schema,
  schemaEquals,
  toFlechette,
  toRows,
  type ValueOptions,
} from "../../arrow/index.ts";
import type { PassedColumns } from "../../protocol/index.ts";
import type { Link, TaskScope } from "../link.ts";
import { BatchCalls, type Given } from "./batch-calls.ts";
import type { Failures } from "./failures.ts";
import { passedTypes } from "./passed-types.ts";

interface BatchFunction {
  readonly call: (batch: unknown) => unknown;
  readonly format: "columns" | "rows" | "arrow";
  readonly batchSize: number;
  readonly values: ValueOptions;
  readonly declared: DeclaredTypes | undefined;
  readonly passes: PassedColumns | undefined;
  readonly maxInFlight: number;
}

export class BatchFunctionStep implements Link {
  readonly takesEach = false;
  readonly #calls: BatchCalls;
  readonly #bundle = new BlockBuilder();
  #assembler: ColumnAssembler | null = null;
  #schema: Schema | null = null;
  #seen = 0;

  constructor(
    private readonly fn: BatchFunction,
    private readonly failures: Failures,
    private readonly next: Link,
    scope: TaskScope,
  ) {
    this.#calls = new BatchCalls({ ...fn, rowsTogether: 1, takesRow: false, name: nameOf }, failures, next, scope);
  }

  get operator(): string {
    return this.failures.operator;
  }

  get given(): number {
    return this.#calls.given;
  }

  /** How many rows its next batch lacks. */
  get wanted(): number {
    const { wanted } = this.next;
    if (wanted <= 0 || wanted === Number.POSITIVE_INFINITY) return wanted;
    return this.fn.batchSize - (this.#assembler?.rows ?? this.#bundle.rows);
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
    if (last !== null) await this.#calls.call(this.#asGiven(last, lengthOf(last)));
    if (this.#bundle.rows > 0) await this.#callBundle();
    await this.#calls.drain();
    await this.next.end();
  }

  close(): void {
    this.#calls.close();
    this.next.close();
  }

  #start(schema: Schema): void {
    this.#schema = schema;
    this.#calls.restart(passedTypes(this.fn.passes, schema));
    this.#assembler = new ColumnAssembler(schema, this.fn.values, this.fn.batchSize);
  }

  async #changeSchema(batch: RecordBatch): Promise<void> {
    const last = this.#assembler?.flush() ?? null;
    if (last !== null) await this.#calls.call(this.#asGiven(last, lengthOf(last)));
    // Answers under way have the previous schema.
    await this.#calls.drain();
    this.#start(batch.schema);
    this.#assembler?.push(batch);
    await this.#callFull();
  }

  /** Stays synchronous as long as the function and the later links do. */
  #callFull(): void | Promise<void> {
    for (let columns = this.#assembler?.next() ?? null; columns !== null; columns = this.#assembler?.next() ?? null) {
      const wait = this.#calls.call(this.#asGiven(columns, this.fn.batchSize));
      if (wait !== undefined) return wait.then(() => this.#callFull());
    }
  }

  async #pushBundled(batch: RecordBatch): Promise<void> {
    for (let start = 0; start < batch.length; ) {
      const end = Math.min(batch.length, start + this.fn.batchSize - this.#bundle.rows);
      this.#bundle.append(batch, start, end);
      start = end;
      if (this.#bundle.rows >= this.fn.batchSize) await this.#callBundle();
      if (this.next.wanted <= 0) return;
    }
  }

  #callBundle(): void | Promise<void> {
    const batch = this.#bundle.finish();
    if (batch === null) return;
    if (this.#schema === null) this.#calls.restart(passedTypes(this.fn.passes, batch.schema));
    else if (!schemaEquals(this.#schema, batch.schema)) return this.#callOther(batch);
    this.#schema = batch.schema;
    return this.#callRows(batch);
  }

  /** Answers under way have the previous schema. */
  async #callOther(batch: RecordBatch): Promise<void> {
    await this.#calls.drain();
    this.#schema = batch.schema;
    this.#calls.restart(passedTypes(this.fn.passes, batch.schema));
    await this.#callRows(batch);
  }

  #callRows(batch: RecordBatch): void | Promise<void> {
    const value = this.fn.format === "rows" ? toRows(batch, this.fn.values) : toFlechette([batch], this.fn.values);
    return this.#calls.call(this.#asGiven(value, batch.length));
  }

  #asGiven(value: unknown, rows: number): Given {
    const given = { value, index: this.#seen, rows };
    this.#seen += rows;
    return given;
  }
}

function nameOf({ index, rows }: Given): string {
  return `the batch of rows ${index} to ${index + rows - 1}`;
}

function lengthOf(columns: Columns): number {
  for (const name in columns) return columns[name]?.length ?? 0;
  return 0;
}
