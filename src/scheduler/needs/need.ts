/**
 * What the next attempt of a task that ran out of memory asks for. Pure: what the next attempt asks for follows from
 * what the last one asked for and how it failed. It is null if the same would only happen again.
 *
 *   it had asked for │ next                              │ where that applies
 *   ─────────────────┼───────────────────────────────────┼──────────────────────────────────────────────────────────
 *   nothing          │ half the batch                    │ it has batches, and has handed nothing over
 *   a smaller batch  │ half of that, and fewer at once   │ the machine was full, and several ran
 *                    │          … in a larger worker     │ its own worker was full, and memory allows a larger one
 *   fewer at once    │ a quarter of that, and alone with │ always, but for a worker, or its kernel, that has all the
 *                    │ nearly all the memory             │ memory already
 *   to be alone      │ a batch of one row                │ it has batches of more
 *
 * With each step an async function has fewer calls under way: half, a quarter, one. Its output does not depend on that.
 * The task is first run again unchanged if earlier tasks may have filled its worker, and always unchanged if processes
 * outside the session filled the node (oom.ts). Rows that do not apply are skipped. If no row is left and other tasks
 * may have filled the machine, the same is tried again.
 */

import { ENDS, type MemoryReason } from "../../errors/index.ts";
import { kernelLease } from "../../memory/index.ts";
import type { Bytes, LearnedNeed } from "../../protocol/index.ts";
import type { Shortage } from "../state/index.ts";

export const NO_NEED: LearnedNeed = { batchSize: null, atOnce: null, alone: false, memory: null };

/** Other tasks may have had a part in it. */
export function isOfTheMachine(cause: MemoryReason): boolean {
  return ENDS[cause].memoryOf === "machine";
}

/** Whether the worker's own process was full, with the task's memory and what earlier tasks had left. */
export function isOfTheWorker(cause: MemoryReason): boolean {
  return ENDS[cause].memoryOf === "worker";
}

/** Null: every further attempt would end in the same way. */
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

/** Calls of an async function that may be under way at once; null: all. */
export function callsAtOnce({ batchSize, atOnce, alone }: LearnedNeed, most: number): number | null {
  if (alone) return 1;
  if (atOnce === null && batchSize === null) return null;
  return Math.max(1, Math.floor(most / (atOnce === null ? 2 : 4)));
}

/** The one of the two that asks for less. */
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
  // Batches make no difference to the kernel's part of a task.
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
  // Other tasks take nothing from a worker's own limit: only a larger worker helps.
  const memory = Math.min(2 * limit, room);
  if (!canHaveMore(shortage) || memory === room) return null;
  if (shortage.kernel !== null && (kernelLease(memory, 1).memory ?? 0) <= shortage.kernel.had) return null;
  return { atOnce: Math.max(1, Math.floor(room / memory)), memory };
}

/** Alone, the task has more memory than before: the whole machine, or a larger worker. */
function canHaveMore({ cause, limit, room, kernel }: Shortage): boolean {
  if (isOfTheMachine(cause)) return true;
  // The kernel has a part of an ordinary worker's memory: the worker's limit says nothing about the kernel's.
  if (kernel !== null) return hasMoreForKernel({ kernel });
  return cause === "engineMemory" && limit === Number.POSITIVE_INFINITY
    ? true
    : limit < room && room < Number.POSITIVE_INFINITY;
}

/**
 * This holds for a task that is alone already, too: it may be alone for another reason, with the kernel's usual part.
 */
function hasMoreForKernel({ kernel }: Pick<Shortage, "kernel">): boolean {
  return kernel !== null && kernel.had < kernel.most;
}

const smaller = (one: number | null, other: number | null) => (one === null ? other : Math.min(one, other ?? one));
const larger = (one: number | null, other: number | null) => (one === null ? other : Math.max(one, other ?? one));
