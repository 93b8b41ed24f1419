/**
 * How many bytes of the store each operator of a job may have, and how many a task of it will want. Pure arithmetic:
 * it knows neither queues nor workers.
 *
 *   a job's part of the store ┬─ one half: an even reservation for each operator that makes blocks, a block at least
 *                             └─ the rest: a pool, for operators that have used up their reservations
 *
 * The order of asking is decided elsewhere: room and workers go to operators downstream first.
 */
import type { BlockRef, Bytes, Split } from "../../protocol/index.ts";

/** What the budget knows of an operator that makes blocks. */
export interface Account {
  /** Its blocks that are being written, wait, or are being read. */
  readonly usage: Bytes;
  /** The size of one of its blocks. */
  readonly block: Bytes;
}

/** What the operator can still use: the rest of its reservation and the rest of the pool. */
export function budgetLeft(account: Account, accounts: readonly Account[], part: Bytes): Bytes {
  const even = part / 2 / Math.max(1, accounts.length);
  let pool = part;
  for (const one of accounts) {
    const reserved = Math.max(one.block, even);
    pool -= reserved + Math.max(0, one.usage - reserved);
  }
  return Math.max(0, Math.max(account.block, even) - account.usage) + Math.max(0, pool);
}

/** Bytes of a task's input, where they are known. */
export function bytesOfInput(input: Split): Bytes | null {
  if (input.kind !== "blocks") return null;
  let bytes = 0;
  for (const { block, start, end } of input.slices) bytes += bytesOfSlice(block, start, end);
  return bytes;
}

export function bytesOfSlice({ length, rows }: BlockRef, start: number, end: number): Bytes {
  return rows === 0 ? 0 : (length * (end - start)) / rows;
}
