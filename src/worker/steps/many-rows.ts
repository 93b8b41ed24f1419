/**
 * The rows that one call of flatMap gives, one after another. They are handed on while they come, and the user's
 * iterator is closed as soon as no more are wanted.
 *
 * If failing rows are dropped (onError), what a call yields is held back until the call has ended, so that a failure
 * drops it, too. A call that yields more than can be held is the exception: its rows are handed on, and a later failure
 * fails its task.
 */
import { RowShapeError } from "../../errors/index.ts";
import { isMap } from "../../realm/index.ts";
import { type Failures, HELD_BYTES } from "./failures.ts";
import { closeQuietly, isAsyncIterable } from "./iterators.ts";
import type { Pace } from "./pace.ts";
import type { RowOutput } from "./row-output.ts";

interface Call {
  readonly index: number;
  readonly row: unknown;
  /** Rows of earlier calls in the output. */
  readonly before: number;
  /** Rows that cannot be dropped any more. */
  handedOn: number;
  /** The rows so far are enough. */
  isOver: boolean;
}

export class ManyRows {
  constructor(
    private readonly output: RowOutput,
    private readonly failures: Failures,
    private readonly pace: Pace,
  ) {}

  /** Takes the result of the call for the row of this index. */
  take(result: unknown, index: number, row: unknown): void | Promise<void> {
    const call: Call = { index, row, before: this.output.rows, handedOn: 0, isOver: false };
    if (isAsyncIterable(result)) return this.#takeAsync(result, call);
    let rows: Iterator<unknown>;
    try {
      rows = rowsOf(result);
    } catch (thrown) {
      this.#failed(thrown, call);
      return;
    }
    return this.#takeSync(rows, call);
  }

  #takeSync(rows: Iterator<unknown>, call: Call): void | Promise<void> {
    while (!call.isOver) {
      let item: IteratorResult<unknown> | null = null;
      try {
        item = rows.next();
        if (item.done !== true) this.output.append(item.value);
      } catch (thrown) {
        if (item !== null) closeQuietly(rows);
        this.#failed(thrown, call);
        return;
      }
      if (item.done === true) return this.#ended();
      const wait = this.#goOn(rows, call);
      if (wait !== undefined) return wait.then(() => this.#takeSync(rows, call));
    }
    try {
      rows.return?.();
    } catch (thrown) {
      this.#failed(thrown, call);
      return;
    }
    return this.#ended();
  }

  async #takeAsync(result: AsyncIterable<unknown>, call: Call): Promise<void> {
    const rows = result[Symbol.asyncIterator]();
    while (!call.isOver) {
      let item: IteratorResult<unknown> | null = null;
      try {
        item = await rows.next();
        if (item.done !== true) this.output.append(item.value);
      } catch (thrown) {
        if (item !== null) closeQuietly(rows);
        this.#failed(thrown, call);
        return;
      }
      if (item.done === true) return this.#ended();
      await this.#goOn(rows, call);
    }
    try {
      await rows.return?.();
    } catch (thrown) {
      this.#failed(thrown, call);
      return;
    }
    return this.#ended();
  }

  /** Called after each row. If the task is cancelled or fails here, the iterator is closed, too. */
  #goOn(rows: Iterator<unknown> | AsyncIterator<unknown>, call: Call): void | Promise<void> {
    try {
      const wait = (this.output.isDue ? this.#look(call) : undefined) ?? this.pace.step();
      return wait?.catch((error: unknown) => {
        closeQuietly(rows);
        throw error;
      });
    } catch (error) {
      closeQuietly(rows);
      throw error;
    }
  }

  #look(call: Call): void | Promise<void> {
    const { output } = this;
    if (this.failures.drops) {
      call.isOver = output.suffices;
      if (call.isOver || output.byteLength < HELD_BYTES) {
        output.lookLater();
        return;
      }
      call.handedOn += output.rows - (call.handedOn === 0 ? call.before : 0);
    }
    const wait = this.failures.drops ? output.handOn() : output.handOnFull();
    if (wait !== undefined) {
      return wait.then(() => {
        call.isOver = output.enough;
      });
    }
    call.isOver = output.enough;
  }

  #ended(): void | Promise<void> {
    if (this.failures.drops || this.output.isDue) return this.output.handOnFull();
  }

  #failed(thrown: unknown, { index, row, before, handedOn }: Call): void {
    this.failures.row(thrown, index, row, handedOn);
    this.output.truncate(before);
  }
}

function rowsOf(result: unknown): Iterator<unknown> {
  if (typeof result === "object" && result !== null && Symbol.iterator in result && !isMap(result)) {
    return (result as Iterable<unknown>)[Symbol.iterator]();
  }
  const came = result === null ? "null" : typeof result;
  throw new RowShapeError(`flatMap must return an array (or another iterable) of rows; it returned ${came}.`, null);
}
