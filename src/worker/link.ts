/**
 * The links of a task's chain, which push batches on to the next link. A batch is borrowed: it is valid until the push
 * that received it has returned (or its promise has settled). Pushing is synchronous where possible, because a promise
 * for every 2,048 rows would cost more than many functions do.
 */
import type { RecordBatch } from "../arrow/index.ts";

export interface Link {
  push(batch: RecordBatch): void | Promise<void>;
  /** No more batches come: hand on what is held back. */
  end(): void | Promise<void>;
  /**
   * The fewest rows that can be enough for the later links: infinite if all are wanted, 0 if no more are. A link that
   * makes rows hands them on when it has this many, and stops at 0, also in the middle of the user's own iterator.
   */
  readonly wanted: number;
  /** This many rows are certain to be enough, because no later link drops any. */
  readonly takesEach: boolean;
  /** Rows that it has made and not handed on yet; left out where it makes none. */
  readonly held?: number;
  /** Frees memory of the kernel and other memory. Called once, however the task ended. */
  close(): void;
}

/** What links may ask of the task they run in. */
export interface TaskScope {
  /** Throws once the task is cancelled. */
  check(): void;
  /**
   * For loops over user code: gives the event loop, and with it a cancel, its turn when one is due. Throws like check.
   */
  turn(): void | Promise<void>;
  /** Where the rows come from, for messages. */
  readonly files: readonly string[];
  /** `onError` dropped rows or a batch. */
  errored(rows: number): void;
  /** A refusal of memory now is the fault of the row that asked for it: nothing on this machine could give more. */
  readonly blamesRows: boolean;
}
