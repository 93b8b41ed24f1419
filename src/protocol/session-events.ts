/**
 * What happened to a session's memory and its workers, for whoever watches: one object an event, a line each in
 * `events.jsonl` of the session's logs, and for the program's own listeners.
 */
import type { Bytes, TaskId, WorkerId } from "./job.ts";
import type { DeathReason, LearnedNeed, Pressure } from "./memory.ts";

interface OfWorker {
  readonly worker: WorkerId;
  readonly pid: number;
}

export type SessionEvent =
  /** It stands on another step of the ladder. */
  | (OfWorker & {
      readonly type: "pressure";
      readonly from: Pressure;
      readonly to: Pressure;
      readonly process: Bytes;
      readonly limit: Bytes;
    })
  | (OfWorker & { readonly type: "pausedTooLong"; readonly seconds: number; readonly cause: string })
  /** The node's monitor ends it. */
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
  /** It had grown, and gave nothing back: another one takes its place. */
  | (OfWorker & { readonly type: "recycled"; readonly private: Bytes; readonly why: string })
  | (OfWorker & { readonly type: "trimmed"; readonly returned: Bytes })
  | {
      readonly type: "oomRetry";
      readonly operator: string;
      readonly task: TaskId;
      readonly attempt: number;
      readonly need: LearnedNeed;
    }
  | { readonly type: "memoryLimit"; readonly limit: Bytes | null }
  | { readonly type: "rebalanced"; readonly blocks: number; readonly bytes: Bytes };

/** With the time at which it happened, as ISO 8601. */
export type TimedEvent = SessionEvent & { readonly at: string };
