/**
 * What the user is told while work goes on, as fields. `src/notices/` makes the text where a person reads it: on the
 * program's stderr, on a page, in a report.
 */
import type { Bytes, JobId, WorkerId } from "./job.ts";
import type { LearnedNeed } from "./memory.ts";

/** Totals since the start of the session. */
interface SpillTotals {
  readonly bytes: Bytes;
  readonly objects: number;
  readonly seconds: number;
  readonly pid: number;
  readonly host: string;
}

export type Notice =
  | ({ readonly kind: "spilled" } & SpillTotals)
  | ({ readonly kind: "restored" } & SpillTotals)
  /** `error`: the error of the disks. */
  | { readonly kind: "waitsForDisk"; readonly error: string }
  | { readonly kind: "kernelSpilled"; readonly operator: string; readonly bytes: Bytes }
  /** The store is a file in `directory`, because shared memory is too small. */
  | {
      readonly kind: "storeOnDisk";
      readonly sharedMemory: string;
      readonly free: Bytes;
      readonly capacity: Bytes;
      readonly directory: string;
    }
  /** No port was available. */
  | { readonly kind: "noDashboard"; readonly error: string }
  /** The usual directory of the user's sessions cannot be trusted, and another one is used. */
  | { readonly kind: "placeTaken"; readonly usual: string; readonly why: string; readonly used: string }
  | { readonly kind: "placeExposed"; readonly directory: string }
  | { readonly kind: "outOfMemory"; readonly operator: string; readonly cause: string; readonly retry: RetryPlan }
  /** The wide kernel ran out of memory for the operator. `partitions`: null if its blocks are read as they are. */
  | { readonly kind: "otherWay"; readonly operator: string; readonly partitions: number | null }
  | {
      readonly kind: "pausedTooLong";
      readonly worker: WorkerId;
      readonly pid: number;
      readonly seconds: number;
      readonly cause: string;
    }
  /** A worker has much memory outside of blocks, and nothing left to spill. */
  | {
      readonly kind: "unmanaged";
      readonly worker: WorkerId;
      readonly pid: number;
      readonly operator: string | null;
      readonly process: Bytes;
      readonly limit: Bytes;
      readonly unmanaged: Bytes;
    }
  /** Other sessions of the user are on the node: what this one has of it. */
  | {
      readonly kind: "sharesNode";
      readonly sessions: number;
      readonly memory: Bytes;
      readonly of: Bytes;
      readonly store: Bytes;
      readonly workers: number;
    }
  | { readonly kind: "replaced"; readonly worker: WorkerId; readonly pid: number; readonly why: string }
  /** Workers that died in the last minute. */
  | {
      readonly kind: "deaths";
      readonly forMemory: number;
      readonly others: number;
      readonly host: string;
      readonly logs: string;
      readonly memoryUsageThreshold: number;
      readonly memoryMonitorRefreshMs: number;
    }
  /** A function returned a batch that was too large. `fitting`: the batchSize that would have fitted. */
  | {
      readonly kind: "batchCut";
      readonly operator: string;
      readonly bytes: Bytes;
      readonly rows: number;
      readonly target: Bytes;
      readonly fitting: number;
    }
  | { readonly kind: "largeRow"; readonly operator: string; readonly bytes: Bytes; readonly target: Bytes }
  | { readonly kind: "lateDispose"; readonly operator: string; readonly seconds: number }
  /** The user's worker data cannot be measured, or frees nothing. */
  | { readonly kind: "workerData"; readonly worker: WorkerId; readonly problem: string }
  | { readonly kind: "releasedTwice"; readonly error: string };

/** What the next attempt and later tasks get. */
export interface RetryPlan {
  readonly need: LearnedNeed;
  readonly isWide: boolean;
  /** `onError` drops the rows that ask for more memory than there is. */
  readonly dropsRows: boolean;
}

/** The program shows the first of several notices with the same `about` in a job. */
export interface NoticeMessage {
  readonly type: "notice";
  readonly notice: Notice;
  readonly about?: { readonly job: JobId; readonly what: string };
}
