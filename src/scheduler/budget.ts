/**
 * How many bytes of the store each operator of a job may have, and how many a task of it will want. Pure arithmetic:
 * it knows neither queues nor workers.
 *
 *   a job's part of the store ┬─ one half: an even reservation for each operator that makes blocks, a block at least
 *                             └─ the rest: a pool, for whoever comes first once its reservation is used up
 *
 * Who is asked first is not decided here: room and workers are given to those downstream first.
 */
import type { Bytes, Split } from "../protocol/index.ts";

/** What an operator that makes blocks brings into the account. */
export interface Account {
  /** Its blocks that are being written, wait, or are being read. */
  readonly usage: Bytes;
  /** The size of one of its blocks. */
  readonly block: Bytes;
}

/** What the operator can still be given: the rest of its reservation, and the rest of the pool. */
export function budgetLeft(account: Account, accounts: readonly Account[], part: Bytes): Bytes {
  const even = part / 2 / Math.max(1, accounts.length);
  let pool = part;
  for (const one of accounts) {
    const reserved = Math.max(one.block, even);
    pool -= reserved + Math.max(0, one.usage - reserved);
  }
  return Math.max(0, Math.max(account.block, even) - account.usage) + Math.max(0, pool);
}

/** A task as far as its output can be foretold. */
export interface TaskOutput {
  /** Null where nobody knows: a split of a file. */
  readonly bytesIn: Bytes | null;
  /** What it has handed over so far. */
  readonly bytesOut: Bytes;
}

/**
 * What a task of an operator hands over, learned from those that are done: by input byte where the input is known, by
 * task else. Tasks that still run correct it upwards at once: one that has handed over more than was expected of it
 * shows what the next ones may do.
 */
export class OutputEstimate {
  #tasks = 0;
  #bytes: Bytes = 0;
  /** The same of tasks whose input is known. */
  #bytesIn: Bytes = 0;
  #bytesOut: Bytes = 0;

  done({ bytesIn, bytesOut }: TaskOutput): void {
    this.#tasks += 1;
    this.#bytes += bytesOut;
    if (bytesIn === null) return;
    this.#bytesIn += bytesIn;
    this.#bytesOut += bytesOut;
  }

  /** Of a task with so much input; null while nothing is known. */
  of(bytesIn: Bytes | null): Bytes | null {
    if (bytesIn !== null && this.#bytesIn > 0) return (this.#bytesOut / this.#bytesIn) * bytesIn;
    return this.#tasks === 0 ? null : this.#bytes / this.#tasks;
  }

  /** Corrected by running tasks; itself where these hold no surprise. */
  correctedBy(running: Iterable<TaskOutput>): OutputEstimate {
    let corrected: OutputEstimate = this;
    for (const task of running) {
      if (task.bytesOut <= (this.of(task.bytesIn) ?? 0)) continue;
      if (corrected === this) corrected = this.#copy();
      corrected.done(task);
    }
    return corrected;
  }

  #copy(): OutputEstimate {
    const copy = new OutputEstimate();
    copy.#tasks = this.#tasks;
    copy.#bytes = this.#bytes;
    copy.#bytesIn = this.#bytesIn;
    copy.#bytesOut = this.#bytesOut;
    return copy;
  }
}

/** Bytes of a task's input, where they are known. */
export function bytesOfInput(input: Split): Bytes | null {
  if (input.kind !== "blocks") return null;
  let bytes = 0;
  for (const { block, start, end } of input.slices) {
    bytes += block.rows === 0 ? 0 : (block.length * (end - start)) / block.rows;
  }
  return bytes;
}
