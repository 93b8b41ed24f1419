/** A worker process as the scheduler knows it: what it does, what memory it has, what it knows. Plain data. */

import type { LeastOverTime, Standing } from "../../memory/index.ts";
import type { Bytes, MemoryKinds, Milliseconds, WorkerId, WorkerReading } from "../../protocol/index.ts";
import type { HeapPast, Trimming, WorkerHistory } from "../memory/index.ts";
import type { WorkerPhase } from "../phases/index.ts";
import type { OperatorState } from "./operator-state.ts";
import type { TaskState } from "./task-state.ts";

export interface WorkerState {
  readonly id: WorkerId;
  pid: number;
  /** Its memory limit, and the one that its process was started with. */
  memory: Bytes;
  readonly startedWith: Bytes;
  /** Written by `moveWorker` alone (phases/worker.ts). */
  phase: WorkerPhase;
  task: TaskState | null;
  /** What its kernel holds in memory for a fed task, as it last said. */
  kernelBytes: Bytes;
  /**
   * What the user's container in it holds, and whether it lets go when it is asked; spent: it was, and had nothing more, and since
   * then it is as large as it was and no task has left. Null: there is none.
   */
  container: { readonly bytes: Bytes; readonly evicts: boolean; readonly hasNothingToEvict: boolean } | null;
  /** What it was known to hold when memory was last read: what has come since is in no reading yet. */
  containerRead: Bytes;
  /** It was asked to let go, and neither it nor a reading has said anything since. */
  isAskedToEvict: boolean;
  /** What it was last seen to have, and when; null: nobody has looked yet. */
  reading: WorkerReading | null;
  readAt: Milliseconds;
  /** The same by kind; what is unmanaged, over time. */
  kinds: MemoryKinds;
  readonly unmanaged: LeastOverTime;
  /** Its step of the ladder. */
  standing: Standing;
  /** When something of it was last to leave memory, nothing could. */
  foundNothingToSpill: boolean;
  paused: { readonly since: Milliseconds; isReported: boolean } | null;
  readonly history: WorkerHistory;
  readonly heap: HeapPast;
  /** It has no task, and gets none before it is known whether a trim has helped. */
  trimming: Trimming | null;
  /** Why it was chosen to be ended from here; null: it was not. */
  endedFor: string | null;
  /** What processes had that are not the session's, where they filled the node and it was ended for that. */
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
  /** A kernel had too little memory for it: the next is given all that there is. */
  relief: boolean;
}
