/**
 * mapGroups over groups that may be larger than memory: the function is called once for each group, with an async
 * iterable of batches. One group is under way at a time, and its next batch is made only when the function asks for it.
 */
import { BlockBuilder, type RecordBatch } from "../../arrow/index.ts";
import { CancelledError } from "../../errors/index.ts";
import type { Link, TaskScope } from "../link.ts";
import { BatchCalls } from "./batch-calls.ts";
import type { Failures } from "./failures.ts";
import { GroupBorders } from "./group-borders.ts";
import { type GroupFunction, groupName } from "./group-function.ts";
import { GroupValues } from "./group-values.ts";
import type { Failure } from "./many-batches.ts";
import { passedTypes } from "./passed-types.ts";

/** The group of the present call. */
interface OpenGroup {
  readonly batches: BatchQueue;
  /** Settles when the function has ended and all of its answer is handed on. */
  readonly answered: Promise<void>;
  readonly index: number;
  readonly name: string;
  rows: number;
  failure: Failure | null;
}

export class GroupStreamStep implements Link {
  readonly takesEach = false;
  readonly #calls: BatchCalls;
  readonly #borders: GroupBorders;
  readonly #values: GroupValues;
  /** Rows of the open group that are not a whole batch yet. */
  readonly #held = new BlockBuilder();
  #group: OpenGroup | null = null;
  #seen = 0;
  #started = false;

  constructor(
    private readonly fn: GroupFunction,
    private readonly failures: Failures,
    private readonly next: Link,
    private readonly scope: TaskScope,
  ) {
    this.#calls = new BatchCalls({ ...fn, rowsTogether: 1, takesRow: true, name: () => "" }, failures, next, scope);
    this.#borders = new GroupBorders(fn.keys, failures.operator);
    this.#values = new GroupValues(fn.format, fn.values);
  }

  get wanted(): number {
    return this.next.wanted;
  }

  async push(batch: RecordBatch): Promise<void> {
    if (batch.length === 0) return;
    if (!this.#started) {
      this.#started = true;
      this.#calls.restart(passedTypes(this.fn.passes, batch.schema));
    }
    const starts = this.#borders.starts(batch);
    await this.#feed(batch, 0, starts[0] ?? batch.length);
    for (const [index, start] of starts.entries()) {
      await this.#endGroup();
      if (this.wanted <= 0) return;
      this.#beginGroup(batch, start);
      await this.#feed(batch, start, starts[index + 1] ?? batch.length);
    }
  }

  async end(): Promise<void> {
    await this.#endGroup();
    await this.next.end();
  }

  close(): void {
    this.#group?.batches.abandon();
    this.#calls.close();
    this.next.close();
  }

  #beginGroup(batch: RecordBatch, start: number): void {
    this.scope.check();
    this.#values.load(batch);
    const first = this.#values.slice(start, start + 1);
    const name = groupName(this.fn.keys, { value: first, index: this.#seen, rows: 1 }).replace(" of 1 rows", "");
    const batches = new BatchQueue();
    const group: OpenGroup = {
      batches,
      index: this.#seen,
      name,
      rows: 0,
      failure: null,
      answered: this.#calls.whole(batches).then((failure) => {
        group.failure = failure;
        batches.stop();
      }),
    };
    // The error is thrown by a later await; this handler also keeps it from being reported as unhandled until then.
    group.answered.catch(() => batches.stop());
    this.#group = group;
  }

  async #feed(batch: RecordBatch, from: number, to: number): Promise<void> {
    const group = this.#group;
    if (group === null) return;
    group.rows += to - from;
    this.#seen += to - from;
    for (let start = from; start < to && !group.batches.stopped; ) {
      const end = Math.min(to, start + this.fn.batchSize - this.#held.rows);
      this.#held.append(batch, start, end);
      start = end;
      if (this.#held.rows >= this.fn.batchSize) await this.#give(group);
    }
    if (group.batches.stopped) await this.#judge(group);
  }

  /** Waits until the function has taken the batch, or will take no more. */
  async #give(group: OpenGroup): Promise<void> {
    const batch = this.#held.finish();
    if (batch === null) return;
    this.#values.load(batch);
    await group.batches.give(this.#values.slice(0, batch.length));
    this.scope.check();
  }

  async #endGroup(): Promise<void> {
    const group = this.#group;
    if (group === null) return;
    if (this.#held.rows > 0 && !group.batches.stopped) await this.#give(group);
    group.batches.end();
    await group.answered;
    this.#group = null;
    this.#held.clear();
    if (group.failure !== null) this.#failed(group, group.failure);
  }

  /** The function has ended before its group did: a failure that ends the task is thrown now. */
  async #judge(group: OpenGroup): Promise<void> {
    await group.answered;
    if (group.failure !== null && !this.failures.drops) this.#failed(group, group.failure);
  }

  #failed({ index, rows, name }: OpenGroup, { thrown, handedOn }: Failure): void {
    this.failures.batch(thrown, index, rows, null, name, handedOn);
  }
}

function taskIsOver(): CancelledError {
  return new CancelledError("This group can no longer be read: its task has ended.");
}

/** Passes one batch at a time from the step to the function. */
class BatchQueue implements AsyncIterable<unknown>, AsyncIterator<unknown> {
  #waiting: ((result: IteratorResult<unknown> | Promise<never>) => void) | null = null;
  #offered: { readonly value: unknown; readonly taken: () => void } | null = null;
  #ended = false;
  #abandoned = false;
  /** The function takes no more batches. */
  stopped = false;

  [Symbol.asyncIterator](): AsyncIterator<unknown> {
    return this;
  }

  /** Resolves when the batch is taken. */
  give(value: unknown): Promise<void> {
    if (this.stopped) return Promise.resolve();
    if (this.#waiting !== null) {
      const waiting = this.#waiting;
      this.#waiting = null;
      waiting({ value, done: false });
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#offered = { value, taken: resolve };
    });
  }

  end(): void {
    this.#ended = true;
    this.#waiting?.({ value: undefined, done: true });
    this.#waiting = null;
  }

  /** The task is over. A function that waits for more must not take this for the end of its group. */
  abandon(): void {
    this.#abandoned = true;
    this.#waiting?.(Promise.reject(taskIsOver()));
    this.#waiting = null;
  }

  stop(): void {
    this.stopped = true;
    this.#offered?.taken();
    this.#offered = null;
  }

  next(): Promise<IteratorResult<unknown>> {
    if (this.#offered !== null) {
      const { value, taken } = this.#offered;
      this.#offered = null;
      taken();
      return Promise.resolve({ value, done: false });
    }
    if (this.#abandoned) return Promise.reject(taskIsOver());
    if (this.#ended || this.stopped) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  /** The function left its loop by `break`. */
  return(): Promise<IteratorResult<unknown>> {
    this.stop();
    return Promise.resolve({ value: undefined, done: true });
  }
}
