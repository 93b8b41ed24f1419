/** Figures that travel with progress and at the end of a job. */
import type { TypeFamily } from "../arrow/index.ts";
import type { Bytes, Milliseconds, OperatorId, Skipped } from "./job.ts";
import type { Appetite, LearnedNeed } from "./memory.ts";

export interface WrittenFile {
  /** Relative to the sink's staging directory, later to its directory. */
  readonly path: string;
  /** Null if the kernel does not tell (CSV and JSON by partition). */
  readonly rows: number | null;
  readonly bytes: Bytes;
}

/** What one finished task did, in figures. The event stream contains them unchanged. */
export interface TaskFigures {
  readonly rowsIn: number;
  readonly rowsOut: number;
  readonly bytesOut: Bytes;
  readonly wall: Milliseconds;
  readonly cpu: Milliseconds;
  /**
   * The highest private memory of the worker and its child processes while the task ran, with what earlier tasks had
   * left in it.
   */
  readonly peakMemory: Bytes;
  /** The part of it that was not there when the task began: at least this much is the task's own. */
  readonly addedMemory: Bytes;
  /** Rows dropped by `onError`. */
  readonly errored: number;
}

export const NO_FIGURES: TaskFigures = {
  rowsIn: 0,
  rowsOut: 0,
  bytesOut: 0,
  wall: 0,
  cpu: 0,
  peakMemory: 0,
  addedMemory: 0,
  errored: 0,
};

/** The figures of several tasks together. */
export function addedFigures(some: TaskFigures, more: TaskFigures): TaskFigures {
  return {
    rowsIn: some.rowsIn + more.rowsIn,
    rowsOut: some.rowsOut + more.rowsOut,
    bytesOut: some.bytesOut + more.bytesOut,
    wall: some.wall + more.wall,
    cpu: some.cpu + more.cpu,
    peakMemory: Math.max(some.peakMemory, more.peakMemory),
    addedMemory: Math.max(some.addedMemory, more.addedMemory),
    errored: some.errored + more.errored,
  };
}

export interface TaskReport extends TaskFigures {
  readonly files: readonly WrittenFile[];
  /** Columns of the files that rows were written to: those of all tasks must be the same. */
  readonly written?: { readonly names: readonly string[]; readonly types: readonly TypeFamily[] };
  /** For a fed task: the most that its kernel held in memory and on disk, as far as it was measured. */
  readonly kernel?: { readonly memory: Bytes; readonly spilled: Bytes };
  /** For a fed task with wide rows. */
  readonly byReference?: ByReference;
}

/** Rows whose wide columns stayed outside of the kernel, and the bytes of these columns. */
export interface ByReference {
  readonly rows: number;
  readonly bytes: Bytes;
}

/** What a task has done so far. */
export interface TaskProgress {
  readonly rowsIn: number;
  /** Rows that have passed all steps, and their bytes. Some of the rows may not be handed over yet. */
  readonly rowsOut: number;
  readonly bytesOut: Bytes;
  /** The share of its input that the task has read, from 0 to 1; null when it is unknown. */
  readonly share: number | null;
  /** Private memory of its worker at the last reading, and the highest while the task ran. */
  readonly memory: Bytes;
  readonly peakMemory: Bytes;
}

export const NO_PROGRESS: TaskProgress = {
  rowsIn: 0,
  rowsOut: 0,
  bytesOut: 0,
  share: null,
  memory: 0,
  peakMemory: 0,
};

/** What the worker says of it. The supervisor reads the memory from outside, also of a worker that never answers. */
export type ToldProgress = Omit<TaskProgress, "memory">;

export interface Spread {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly total: number;
}

/** The facts about an operator that its figures are judged by. */
export interface OperatorKind {
  /** Null when the operator has no tasks of its own. */
  readonly place: "worker" | "wide" | null;
  /** True when the operator reads from outside. */
  readonly isSource: boolean;
  /** The operator's functions as they are shown: `map(addTax)`. */
  readonly functions: readonly string[];
  /** Rows of a batch of its functions; null: none of them takes batches. */
  readonly batchSize: number | null;
}

export interface OperatorStats {
  readonly id: OperatorId;
  readonly name: string;
  readonly kind: OperatorKind;
  readonly tasks: number;
  readonly tasksDone: number;
  readonly tasksRunning: number;
  /** The share of the operator's work that is done, from 0 to 1; null when the total is unknown. */
  readonly share: number | null;
  /** From the start of its first task to the end of its last one, or until now. */
  readonly seconds: number;
  /** The wide kernel had too little memory for it, and the operators of an exchange have taken its place. */
  readonly ranAs?: "exchange";
  /** Retries after crashes, and retries after running out of memory. */
  readonly retries: number;
  readonly oomRetries: number;
  /** Null when no task has run out of memory. */
  readonly learned: LearnedNeed | null;
  /** What a task is expected to take. Null: unknown, because it has no functions or nothing was measured. */
  readonly appetite: Appetite | null;
  readonly blocks: number;
  /** Totals count finished and running tasks. All other values of a spread count only finished tasks. */
  readonly rowsIn: number;
  readonly rowsOut: Spread;
  readonly bytesOut: Spread;
  readonly wall: Spread;
  readonly cpu: Spread;
  readonly errored: number;
  /** Of the task that had the most, finished or not. */
  readonly peakMemory: Bytes;
  /** The most that a task added to what its worker had when the task began. */
  readonly addedMemory: Bytes;
  /**
   * Bytes of the operator's blocks that were written to disk, before compression, and read back, each time; and the
   * most that the kernel had on disk for one of its tasks.
   */
  readonly spilledBytes: Bytes;
  readonly restoredBytes: Bytes;
  /** Wide rows that went through the kernel by reference; absent: there were none. */
  readonly byReference?: ByReference;
  /** The policy that holds the operator back now. */
  readonly heldBy: string | null;
  /** Seconds in which the operator was held back, by the name of the policy. */
  readonly heldBack: Readonly<Record<string, number>>;
  readonly skipped: Skipped;
}

/** Memory of the session when figures were told. */
export interface JobMemoryNow {
  /** Private memory of all workers, and what they may have together; null: they have no limit. */
  readonly workers: Bytes;
  readonly limit: Bytes | null;
  /** Of one worker. */
  readonly workerLimit: Bytes | null;
  /** Blocks in memory, the store's capacity, and blocks on disk before compression. */
  readonly store: Bytes;
  readonly capacity: Bytes;
  readonly onDisk: Bytes;
}

export interface JobStats {
  readonly operators: readonly OperatorStats[];
  readonly seconds: number;
  /** Number of the session's workers. */
  readonly workers: number;
  readonly memory: JobMemoryNow;
  /** Peaks over the job: private memory of a process of each kind, and resident bytes of the store they share. */
  readonly peakWorkerMemory: Bytes;
  readonly peakSupervisorMemory: Bytes;
  readonly peakProgramMemory: Bytes;
  readonly peakStoreBytes: Bytes;
  /** The most unmanaged memory that one worker kept for a while: neither blocks nor known worker data. */
  readonly peakUnmanaged: Bytes;
  /** The most that this memory of one worker has grown since the first half of the job; null: the job is too short. */
  readonly grownUnmanaged: Bytes | null;
  /** Bytes of blocks that the session's store wrote to disk, and read back, while the job ran. */
  readonly spilledBytes: Bytes;
  readonly restoredBytes: Bytes;
}

/** What a job begins with. */
export const NO_MEMORY_YET = {
  peakWorkerMemory: 0,
  peakSupervisorMemory: 0,
  peakProgramMemory: 0,
  peakStoreBytes: 0,
  peakUnmanaged: 0,
  grownUnmanaged: null,
  spilledBytes: 0,
  restoredBytes: 0,
} as const satisfies Partial<JobStats>;
