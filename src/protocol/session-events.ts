/** Events of the session's memory and workers. The program's listeners get them, too. */
import type { MemoryReason } from "../errors/index.ts";
import type { Bytes, TaskId, WorkerId } from "./job.ts";
import type { DeathReason, LearnedNeed, Pressure } from "./memory.ts";

interface OfWorker {
  readonly worker: WorkerId;
  readonly pid: number;
}

/** How a task ran out of memory. */
interface MemoryShortage extends OfWorker {
  readonly operator: string;
  readonly task: TaskId;
  /** How many times the task has run out of memory. */
  readonly attempt: number;
  readonly reason: MemoryReason;
  /** What this attempt asked for. */
  readonly asked: LearnedNeed;
  /** What tasks of the operator ask for from now on. */
  readonly need: LearnedNeed;
  /** The most memory that was measured for its worker; null when it was never measured. */
  readonly memory: Bytes | null;
  /** The worker's limit; null without a limit. */
  readonly limit: Bytes | null;
  /** The files that the task reads; only the first ones when there are many. */
  readonly files: readonly string[];
  /** What the user can do, the smallest change first. */
  readonly remedies: readonly string[];
}

export type SessionEvent =
  /** The worker has moved to another step of the ladder. */
  | (OfWorker & {
      readonly type: "pressure";
      readonly from: Pressure;
      readonly to: Pressure;
      readonly process: Bytes;
      readonly limit: Bytes;
    })
  | (OfWorker & { readonly type: "pausedTooLong"; readonly seconds: number; readonly cause: string })
  /** The node's monitor ends the worker. */
  | (OfWorker & {
      readonly type: "monitorKill";
      readonly used: Bytes;
      readonly total: Bytes;
      readonly private: Bytes;
      readonly operator: string | null;
      readonly why: string;
    })
  | (OfWorker & {
      readonly type: "workerDied";
      readonly reason: DeathReason;
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly operator: string | null;
    })
  /** The worker had grown and gave back no memory, so it was replaced. */
  | (OfWorker & { readonly type: "recycled"; readonly private: Bytes; readonly why: string })
  | (OfWorker & { readonly type: "trimmed"; readonly returned: Bytes })
  /** A task ran out of memory and is run again. */
  | ({ readonly type: "oomRetry" } & MemoryShortage)
  /** A task ran out of memory and nothing is left to try, so its job fails. */
  | ({ readonly type: "oomFailure" } & MemoryShortage)
  /**
   * The memory that the session may use has changed: `memory` of the `of` that it was planned with. `sessions`: how
   * many share the node, with this one; `program`: what the program and the supervisor hold beyond their plan.
   */
  | {
      readonly type: "nodeShare";
      readonly memory: Bytes;
      readonly of: Bytes;
      readonly sessions: number;
      readonly program: Bytes;
      readonly store: Bytes;
      readonly workers: number;
    }
  | { readonly type: "memoryLimit"; readonly limit: Bytes | null }
  | { readonly type: "rebalanced"; readonly blocks: number; readonly bytes: Bytes };

/** A session event with its time as ISO 8601. */
export type TimedEvent = SessionEvent & { readonly at: string };
