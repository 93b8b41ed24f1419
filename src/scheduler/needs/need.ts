/**
 * What the next attempt of a task that ran out of memory asks for. Pure: from what it had asked for and how it failed to
 * what it asks for next, or to nothing, where the same would only happen again.
 *
 *   it had asked for │ next                              │ where that applies
 *   ─────────────────┼───────────────────────────────────┼──────────────────────────────────────────────────────────
 *   nothing          │ half the batch                    │ it has batches, and has handed nothing over
 *   a smaller batch  │ half of that, and fewer at once   │ the machine was full, and several ran
 *                    │          … in a larger worker     │ its own worker was full, and there is memory for a larger one
 *   fewer at once    │ a quarter of that, and alone with │ always, but for a worker, or its kernel, that has all the
 *                    │ nearly all the memory             │ memory already
 *   to be alone      │ a batch of one row                │ it has batches of more
 *
 * Of an async function's calls as many fewer are under way at once: half, a quarter, one; what they make does not depend on it.
 * First of all the same once more, where the worker may have been full of what tasks before it had left, and always the same where
 * the node was full of what is not the session's (oom.ts).
 * A row that does not apply is left out. Where nothing is left and others may have filled the machine, the same is tried again.
 */

import { ENDS, type MemoryReason } from "../../errors/index.ts";
import { kernelLease } from "../../memory/index.ts";
import type { Bytes, LearnedNeed } from "../../protocol/index.ts";

/** An attempt that ran out of memory. */
export interface Shortage {
  readonly cause: MemoryReason;
  /** What it had asked for. */
  readonly need: LearnedNeed;
  /** Rows of its largest batch; null: it has none. */
  readonly batchSize: number | null;
  /** It has handed blocks over: other batches could make other ones. */
  readonly isFixed: boolean;
  /** Tasks of the operator that ran, itself included. */
  readonly atOnce: number;
  /** The most that it was seen to have. */
  readonly memory: Bytes | null;
  /** Its worker's limit, without end where it has none. */
  readonly limit: Bytes;
  /** What tasks have together. */
  readonly room: Bytes;
  /** It had no part in it: processes that are not the session's had so much of the node. Null: it may have had. */
  readonly foreign: Bytes | null;
  /** Of a kernel that ran out of memory; null: it was something else, or the kernel had no limit. */
  readonly kernel: KernelShortage | null;
}

interface KernelShortage {
  /** What the kernel could use. */
  readonly had: Bytes;
  /** What that of a task can use that is alone. */
  readonly most: Bytes;
}

export const NO_NEED: LearnedNeed = { batchSize: null, atOnce: null, alone: false, memory: null };

/** Others may have had a part in it. */
export function isOfTheMachine(cause: MemoryReason): boolean {
  return ENDS[cause].memoryOf === "machine";
}

/** Its process was full: of what it had, and of what tasks before it had left. */
export function isOfTheWorker(cause: MemoryReason): boolean {
  return ENDS[cause].memoryOf === "worker";
}

/** Null: whatever is asked for, it ends in the same way. */
export function nextNeed(shortage: Shortage): LearnedNeed | null {
  const { need, cause } = shortage;
  const batch = smallerBatch(shortage);
  const memory = larger(need.memory, shortage.memory);
  if (batch !== null && need.batchSize === null && need.atOnce === null && !need.alone) {
    return { ...need, batchSize: batch(2), memory };
  }
  const batchSize = batch === null ? need.batchSize : batch(need.alone ? Number.POSITIVE_INFINITY : 2);
  if (!need.alone) {
    const fewer = need.atOnce === null ? fewerAtOnce(shortage, memory) : null;
    if (fewer !== null) return { ...need, ...fewer, batchSize };
    if (batch !== null || canHaveMore(shortage)) {
      return { batchSize: batch === null ? batchSize : batch(4), atOnce: 1, alone: true, memory };
    }
  } else if (batch !== null || hasMoreForKernel(shortage)) return { ...need, batchSize, memory };
  return isOfTheMachine(cause) ? { ...need, memory } : null;
}

/** Calls of an async function under way at once, of so many; null: as many. */
export function callsAtOnce({ batchSize, atOnce, alone }: LearnedNeed, most: number): number | null {
  if (alone) return 1;
  if (atOnce === null && batchSize === null) return null;
  return Math.max(1, Math.floor(most / (atOnce === null ? 2 : 4)));
}

/** Of both the one that asks for less. */
export function stricter(one: LearnedNeed | null, other: LearnedNeed): LearnedNeed {
  if (one === null) return other;
  return {
    batchSize: smaller(one.batchSize, other.batchSize),
    atOnce: smaller(one.atOnce, other.atOnce),
    alone: one.alone || other.alone,
    memory: larger(one.memory, other.memory),
  };
}

function smallerBatch({ cause, batchSize, isFixed }: Shortage): ((divisor: number) => number) | null {
  // The kernel's part of a task does not know of batches.
  if (batchSize === null || batchSize <= 1 || isFixed || cause === "engineMemory") return null;
  return (divisor) => Math.max(1, Math.floor(batchSize / divisor));
}

function fewerAtOnce(shortage: Shortage, seen: Bytes | null): Pick<LearnedNeed, "atOnce" | "memory"> | null {
  const { cause, atOnce, limit, room } = shortage;
  if (isOfTheMachine(cause)) {
    if (atOnce === 1) return null;
    const half = Math.floor(atOnce / 2);
    const fit = seen === null || room === Number.POSITIVE_INFINITY ? half : Math.floor(room / Math.max(1, seen));
    return { atOnce: Math.max(1, Math.min(half, fit)), memory: seen };
  }
  // Others do not take of what a worker may have: only a larger one helps.
  const memory = Math.min(2 * limit, room);
  if (!canHaveMore(shortage) || memory === room) return null;
  if (shortage.kernel !== null && (kernelLease(memory, 1).memory ?? 0) <= shortage.kernel.had) return null;
  return { atOnce: Math.max(1, Math.floor(room / memory)), memory };
}

/** Alone it has more than it had: the whole machine, or a larger worker. */
function canHaveMore({ cause, limit, room, kernel }: Shortage): boolean {
  if (isOfTheMachine(cause)) return true;
  // Of an ordinary worker's memory its kernel has a part: the limit of the one says nothing of the other's.
  if (kernel !== null) return hasMoreForKernel({ kernel });
  return cause === "engineMemory" && limit === Number.POSITIVE_INFINITY
    ? true
    : limit < room && room < Number.POSITIVE_INFINITY;
}

/** Also for one that is alone already: it may have come to that for another reason, and its kernel had its usual part. */
function hasMoreForKernel({ kernel }: Pick<Shortage, "kernel">): boolean {
  return kernel !== null && kernel.had < kernel.most;
}

const smaller = (one: number | null, other: number | null) => (one === null ? other : Math.min(one, other ?? one));
const larger = (one: number | null, other: number | null) => (one === null ? other : Math.max(one, other ?? one));
