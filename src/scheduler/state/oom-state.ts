/** What the room `oom` keeps and alone writes: the attempts of a task, and how each ran out of memory. */
import type { MemoryReason } from "../../errors/index.ts";
import { FIRST_ATTEMPT, type WideAttempt } from "../../memory/index.ts";
import type { Bytes, LearnedNeed, Milliseconds } from "../../protocol/index.ts";

export interface TaskOom {
  /** The number of its present attempt; the attempts before it that ran out of memory. */
  attempt: number;
  readonly shortages: Shortage[];
  /** The task was refused memory although it had all the memory: see TaskOrder. */
  blamesRows: boolean;
  /** In the wide kernel: how the present attempt works, or the next one. */
  wide: WideAttempt;
  /** When it may run again. */
  restsUntil: Milliseconds;
}

export function newTaskOom(): TaskOom {
  return { attempt: 0, shortages: [], blamesRows: false, wide: FIRST_ATTEMPT, restsUntil: 0 };
}

/** An attempt that ran out of memory. */
export interface Shortage {
  readonly cause: MemoryReason;
  /** What it had asked for. */
  readonly need: LearnedNeed;
  /** Rows of its largest batch, of which a task with few rows has fewer than asked for; null: it has no batches. */
  readonly batchSize: number | null;
  /** It has handed blocks over: other batches could make other blocks. */
  readonly isFixed: boolean;
  /** Running tasks of the operator, this one included. */
  readonly atOnce: number;
  /** The most memory that it was measured with. */
  readonly memory: Bytes | null;
  /** Its worker's limit; infinite if it has none. */
  readonly limit: Bytes;
  /** Memory for all tasks together. */
  readonly room: Bytes;
  /** Memory of processes outside the session, if these filled the node. Null: the task may have had a part in it. */
  readonly foreign: Bytes | null;
  /** The kernel that ran out of memory; null: it was something else, or the kernel had no limit. */
  readonly kernel: KernelShortage | null;
}

interface KernelShortage {
  /** What the kernel could use. */
  readonly had: Bytes;
  /** What the kernel of a task that is alone can use. */
  readonly most: Bytes;
}
