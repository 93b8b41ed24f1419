/**
 * The shape of a task's inside: a chain of stages that push batches on. A batch is borrowed: it holds until the
 * push it was given to has returned (or its promise has settled). Pushing is synchronous wherever it can be, since
 * a promise per 2,048 rows would cost more than many functions do.
 */
import type { RecordBatch } from "../arrow/index.ts";

export interface Stage {
  push(batch: RecordBatch): void | Promise<void>;
  /** No more batches come: hand on what is held back. */
  end(): void | Promise<void>;
  /**
   * The fewest rows that can be enough for what follows: infinite where all are wanted, 0 where no more are. Whoever
   * makes rows hands them on when there are so many, and stops at 0: the user's own iterator too.
   */
  readonly wanted: number;
  /** So many rows are enough for certain: none of them is dropped further on. */
  readonly takesEach: boolean;
  /** Free kernel and other memory; called once, whether the task ended well or not. */
  close(): void;
}

/** What stages may ask of the task they run in. */
export interface TaskScope {
  /** Throws once the task is cancelled. */
  check(): void;
  /**
   * For loops over user code: gives the event loop, and with it a cancel, its turn where one is due. Throws as check
   * does.
   */
  turn(): void | Promise<void>;
  /** Where the rows come from, for messages. */
  readonly files: readonly string[];
  /** A row or batch that `onError` dropped. */
  errored(rows: number): void;
  /** Memory that is refused now can be had nowhere on this machine: that is the fault of the row that asked for it. */
  readonly blamesRows: boolean;
}
