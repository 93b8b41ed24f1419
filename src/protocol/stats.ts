/** Figures that travel with progress and at the end of a job. */
import type { TypeFamily } from "../arrow/index.ts";
import type { Bytes, Milliseconds, OperatorId, Skipped } from "./job.ts";
import type { LearnedNeed } from "./memory.ts";

export interface WrittenFile {
  /** Relative to the sink's staging directory, and then to its directory. */
  readonly path: string;
  /** null where the kernel does not tell (CSV and JSON by partition). */
  readonly rows: number | null;
  readonly bytes: Bytes;
}

/** What one finished task did. */
export interface TaskReport {
  readonly rowsIn: number;
  readonly rowsOut: number;
  readonly bytesOut: Bytes;
  readonly wall: Milliseconds;
  readonly cpu: Milliseconds;
  /** Highest resident memory of the worker seen so far. */
  readonly peakMemory: Bytes;
  /** Rows dropped by `onError`. */
  readonly errored: number;
  readonly files: readonly WrittenFile[];
  /** Of files that rows were written to: those of all tasks must have the same. */
  readonly written?: { readonly names: readonly string[]; readonly types: readonly TypeFamily[] };
  /** Of a fed task: the most that its kernel held in memory and on disk, as far as it was looked at. */
  readonly kernel?: { readonly memory: Bytes; readonly spilled: Bytes };
}

export interface Spread {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly total: number;
}

export interface OperatorStats {
  readonly id: OperatorId;
  readonly name: string;
  readonly tasks: number;
  readonly tasksDone: number;
  /** After crashes, and after running out of memory. */
  readonly retries: number;
  readonly oomRetries: number;
  /** Null: no task of it has run out of memory. */
  readonly learned: LearnedNeed | null;
  readonly blocks: number;
  readonly rowsOut: Spread;
  readonly bytesOut: Spread;
  readonly wall: Spread;
  readonly cpu: Spread;
  readonly errored: number;
  readonly peakMemory: Bytes;
  /** Seconds for which it could not go on, by the name of the backpressure policy that held it back. */
  readonly heldBack: Readonly<Record<string, number>>;
  readonly skipped: Skipped;
}

export interface JobStats {
  readonly operators: readonly OperatorStats[];
  readonly seconds: number;
  readonly files: readonly WrittenFile[];
  /** Peaks over the job: each process, and the store's resident bytes. */
  readonly peakWorkerMemory: Bytes;
  readonly peakSupervisorMemory: Bytes;
  readonly peakProgramMemory: Bytes;
  readonly peakStoreBytes: Bytes;
  /** Bytes of blocks that the session's store wrote to disk, and read back, while the job ran. */
  readonly spilledBytes: Bytes;
  readonly restoredBytes: Bytes;
}
