/**
 * mapGroups: rows come sorted by the keys, and the user's function is called once for each group, with all of its rows.
 * A group inside one batch is read in place; a group that goes past the end of the batch is assembled first.
 */
import { BlockBuilder, type DeclaredTypes, type RecordBatch, type ValueOptions } from "../../arrow/index.ts";
import type { PassedColumns } from "../../protocol/index.ts";
import type { Link, TaskScope } from "../link.ts";
import { BatchCalls, type Given } from "./batch-calls.ts";
import { type Failures, print } from "./failures.ts";
import { GroupBorders } from "./group-borders.ts";
import { type BatchFormat, GroupValues } from "./group-values.ts";
import { passedTypes } from "./passed-types.ts";

/** A group may have a single row, and may return a single row. */
const ROWS_TOGETHER = 4096;

export interface GroupFunction {
  readonly call: (group: unknown) => unknown;
  readonly keys: readonly string[];
  readonly format: BatchFormat;
  readonly batchSize: number;
  readonly values: ValueOptions;
  readonly declared: DeclaredTypes | undefined;
  readonly passes: PassedColumns | undefined;
  readonly maxInFlight: number;
}

export class GroupFunctionStep implements Link {
  readonly takesEach = false;
  readonly #calls: BatchCalls;
  readonly #borders: GroupBorders;
  readonly #inside: GroupValues;
  readonly #across: GroupValues;
  /** The rows of a group that goes on in the next batch. */
  readonly #open = new BlockBuilder();
  #seen = 0;
  #started = false;

  constructor(
    private readonly fn: GroupFunction,
    failures: Failures,
    private readonly next: Link,
    scope: TaskScope,
  ) {
    const name = (given: Given) => groupName(fn.keys, given);
    this.#calls = new BatchCalls({ ...fn, rowsTogether: ROWS_TOGETHER, takesRow: true, name }, failures, next, scope);
    this.#borders = new GroupBorders(fn.keys, failures.operator);
    this.#inside = new GroupValues(fn.format, fn.values);
    this.#across = new GroupValues(fn.format, fn.values);
  }

  get wanted(): number {
    return this.next.wanted;
  }

  push(batch: RecordBatch): void | Promise<void> {
    if (batch.length === 0) return;
    if (!this.#started) {
      this.#started = true;
      this.#calls.restart(passedTypes(this.fn.passes, batch.schema));
    }
    const starts = this.#borders.starts(batch);
    const [first = batch.length] = starts;
    if (first > 0) this.#open.append(batch, 0, first);
    if (starts.length === 0) return;
    const wait = this.#callOpen();
    return wait === undefined
      ? this.#callInside(batch, starts, 0)
      : wait.then(() => this.#callInside(batch, starts, 0));
  }

  async end(): Promise<void> {
    await this.#callOpen();
    await this.#calls.drain();
    await this.next.end();
  }

  close(): void {
    this.#calls.close();
    this.next.close();
  }

  /**
   * Calls the function for groups that end in this batch; the last one may go on. Stays synchronous as long as the
   * function and the later links do.
   */
  #callInside(batch: RecordBatch, starts: readonly number[], from: number): void | Promise<void> {
    const last = starts.length - 1;
    if (from < last) this.#inside.load(batch);
    for (let group = from; group < last; group++) {
      const start = starts[group] as number;
      const end = starts[group + 1] as number;
      const wait = this.#call(this.#inside.slice(start, end), end - start);
      if (wait !== undefined) return wait.then(() => this.#callInside(batch, starts, group + 1));
    }
    this.#open.append(batch, starts[last] as number, batch.length);
  }

  #callOpen(): void | Promise<void> {
    if (this.#open.rows === 0) return;
    const batch = this.#open.finish();
    if (batch === null) return;
    this.#across.load(batch);
    return this.#call(this.#across.slice(0, batch.length), batch.length);
  }

  #call(value: unknown, rows: number): void | Promise<void> {
    const index = this.#seen;
    this.#seen += rows;
    return this.#calls.call({ value, index, rows });
  }
}

/** Names the group by its keys, read from the function's input. */
export function groupName(keys: readonly string[], { value, rows }: Given): string {
  const found = keys.map((key) => [key, keyValue(value, key)] as const);
  return `the group ${print(Object.fromEntries(found))} of ${rows} rows`;
}

function keyValue(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) return keyValue({ ...value[0] }, key);
  if ("getChild" in value && typeof value.getChild === "function") return value.getChild(key)?.at(0);
  const column: unknown = Object.getOwnPropertyDescriptor(value, key)?.value;
  if (Array.isArray(column)) return column[0];
  return ArrayBuffer.isView(column) ? Reflect.get(column, 0) : column;
}
