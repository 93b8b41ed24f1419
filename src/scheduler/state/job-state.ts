/** A job while it runs: its operators, how far the program is with it, its peaks. Plain data. */

import type { WireError } from "../../errors/index.ts";
import type { Bytes, JobId, JobSpec, Milliseconds } from "../../protocol/index.ts";
import type { Holder, SpillTotals } from "../../store/index.ts";
import type { JobPhase } from "../phases/index.ts";
import type { SeenColumns } from "./columns.ts";
import type { OperatorState } from "./operator-state.ts";

export interface JobState {
  readonly id: JobId;
  readonly spec: JobSpec;
  /** For what is in its queues, for what its tasks have taken, and for what it reads. */
  readonly holder: Holder;
  readonly taskHolder: Holder;
  readonly inputHolder: Holder;
  /** For what waits without flowing: input that is kept in case a task dies, output of wide tasks. */
  readonly keptHolder: Holder;
  readonly operators: OperatorState[];
  /** How many of them hand over blocks. */
  readonly blockOperators: number;
  readonly startedAt: Milliseconds;
  /** The order of starting, and of being served: the job served longest ago goes first. */
  readonly order: number;
  lastServed: number;
  /** Of the first block that went out to the program, as table 0. */
  readonly columns: Map<number, SeenColumns>;
  /** Written by `moveJob` alone (phases/job.ts). */
  phase: JobPhase;
  /** The program knows how it ended, or does not want to know. */
  told: boolean;
  error: WireError | null;
  /** Output blocks that the program can take. */
  credit: number;
  /** Output blocks that the program has and will give back when it has read them. */
  unread: number;
  /** It has so many of them that it gets no more before it has given some back. */
  readerIsFull: boolean;
  /** When the program last got something of it, gave something back, or asked for more. */
  movedAt: Milliseconds;
  rowsDelivered: number;
  erroredTasks: number;
  runningTasks: number;
  /** Since when it has stood still for want of a worker, and none of its tasks has begun; null: it does not. */
  waitsSince: Milliseconds | null;
  /** Of its running tasks, those that wait for room. */
  askingTasks: number;
  changed: boolean;
  progressAt: Milliseconds;
  peakStoreBytes: Bytes;
  /** The most that kernels have had on disk for it. */
  kernelSpilled: Bytes;
  /** The store's totals when the job began. */
  readonly spillsBefore: SpillTotals;
  peakWorkerMemory: Bytes;
  peakSupervisorMemory: Bytes;
  peakProgramMemory: Bytes;
}
