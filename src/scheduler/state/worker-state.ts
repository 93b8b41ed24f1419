/** A worker process as the scheduler knows it: what it does, its memory, the operators that it has. Plain data. */

import type { LeastOverTime, Standing } from "../../memory/index.ts";
import type { Bytes, MemoryKinds, Milliseconds, WorkerId, WorkerPhase, WorkerReading } from "../../protocol/index.ts";
import type { HeapPast, Trimming, WorkerHistory } from "../memory/index.ts";
import type { Birth } from "../starts/index.ts";
import type { OperatorState } from "./operator-state.ts";
import type { TaskState } from "./task-state.ts";

export interface WorkerState {
  readonly id: WorkerId;
  /** 0: it has not connected. */
  pid: number;
  readonly birth: Birth;
  /** Its memory limit, and the one that its process was started with. */
  memory: Bytes;
  readonly startedWith: Bytes;
  /** Written by `moveWorker` alone (phases/worker.ts). */
  phase: WorkerPhase;
  task: TaskState | null;
  /** What its kernel holds in memory for a fed task, as it last said. */
  kernelBytes: Bytes;
  /**
   * Size of the worker data, and whether it frees memory when asked. Spent: when it was last asked it had nothing more
   * to free, and since then its size is the same and no task has ended. Null: there is none.
   */
  container: { readonly bytes: Bytes; readonly evicts: boolean; readonly hasNothingToEvict: boolean } | null;
  /** Its size at the last reading of memory: growth since then is in no reading yet. */
  containerRead: Bytes;
  /** It was asked to free memory, and neither an answer nor a reading has come since. */
  isAskedToEvict: boolean;
  /** Its last reading, and when; null: never measured. */
  reading: WorkerReading | null;
  readAt: Milliseconds;
  /** The same by kind; what is unmanaged, over time. */
  kinds: MemoryKinds;
  readonly unmanaged: LeastOverTime;
  /** Its step of the ladder. */
  standing: Standing;
  /** When blocks of it last had to leave memory, none could. */
  foundNothingToSpill: boolean;
  paused: { readonly since: Milliseconds; isReported: boolean } | null;
  readonly history: WorkerHistory;
  readonly heap: HeapPast;
  /** The worker gets no task until it is known whether a trim has helped. */
  trimming: Trimming | null;
  /** Why the scheduler chose it to be ended; null: it did not. */
  endedFor: string | null;
  /** Memory of processes outside the session, if these filled the node and the worker was ended for that. */
  foreign: Bytes | null;
  inspection: Inspection | null;
  readonly knows: Set<OperatorState>;
  /** Classes' instances that have GPUs, by job and operator. */
  readonly instances: Map<string, { readonly devices: readonly string[]; readonly amount: number }>;
  lastDevices: readonly string[];
}

export interface Inspection {
  readonly request: number;
  readonly sql: string;
  readonly maxRetries: number;
  attempts: number;
  /** The kernel ran out of memory for this question: the next attempt gets all the memory for tasks. */
  relief: boolean;
}
