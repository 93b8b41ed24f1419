/** A running job: its operators, how far the program has read, its peaks. Plain data. */

import type { WireError } from "../../errors/index.ts";
import type { Bytes, JobId, JobPhase, JobSpec, Milliseconds } from "../../protocol/index.ts";
import type { Holder, SpillTotals } from "../../store/index.ts";
import type { SeenColumns } from "./columns.ts";
import type { OperatorState } from "./operator-state.ts";

export interface JobState {
  readonly id: JobId;
  readonly spec: JobSpec;
  /** Holders of references: for its queues, for its tasks' inputs, and for what it reads. */
  readonly holder: Holder;
  readonly taskHolder: Holder;
  readonly inputHolder: Holder;
  /** Holder of blocks that wait without flowing: input that is kept in case a task dies, and output of wide tasks. */
  readonly keptHolder: Holder;
  readonly operators: OperatorState[];
  /** How many of them hand over blocks. */
  readonly blockOperators: number;
  readonly startedAt: Milliseconds;
  /** The order of starting, and of being served: the job served longest ago goes first. */
  readonly order: number;
  lastServed: number;
  /** Columns of the first block that went to the program, as table 0. */
  readonly columns: Map<number, SeenColumns>;
  /** Written by `moveJob` alone (phases/job.ts). */
  phase: JobPhase;
  /** The program has been told how the job ended, or no longer wants to know. */
  told: boolean;
  error: WireError | null;
  /** Output blocks that the program can take. */
  credit: number;
  /** Output blocks that the program has and will give back when it has read them. */
  unread: number;
  /** The program has so many of them that it must give some back before it gets more. */
  readerIsFull: boolean;
  /** When the program last got a block of the job, gave one back, or asked for more. */
  movedAt: Milliseconds;
  rowsDelivered: number;
  erroredTasks: number;
  runningTasks: number;
  /** Since when the job has stood still for lack of a worker; null: it does not. */
  waitsSince: Milliseconds | null;
  /** Its running tasks that wait for room. */
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
