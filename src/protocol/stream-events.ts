/**
 * The event stream of a session: everything that happens in it, one object an event. Observers get it live and the
 * session's event file keeps it; `src/events/` makes the same state of both. `docs/events.md` has a row for each kind,
 * and a test compares the two. No event contains rows, sources of functions, tokens or values of environment variables.
 */
import type {
  BlockId,
  Bytes,
  Gather,
  JobId,
  Milliseconds,
  OperatorId,
  ResourceRequest,
  Skipped,
  TaskId,
  WorkerId,
} from "./job.ts";
import type {
  Appetite,
  DeathReason,
  LearnedNeed,
  MemoryKinds,
  NodeMemory,
  NodeSnapshot,
  Pressure,
  ProcessMemory,
} from "./memory.ts";
import type { NoticeMessage } from "./notices.ts";
import type { BlockState, JobPhase, TaskPhase, WorkerPhase } from "./phases.ts";
import type { SessionEvent } from "./session-events.ts";
import type { TaskFigures, TaskProgress, TaskReport } from "./stats.ts";

/** An error without its stack, which may contain values of the user's. */
export interface ToldError {
  readonly name: string;
  readonly message: string;
}

/** An operator when its job starts. */
export interface OperatorPlan {
  readonly id: OperatorId;
  readonly name: string;
  readonly kind: "tasks" | "slice";
  readonly place: "worker" | "wide";
  /** The operators that it reads from. */
  readonly inputs: readonly OperatorId[];
  /** The tasks that are known at the start; others are formed as blocks come. */
  readonly tasks: number;
  /** What its tasks do and what they ask for; null: it has no tasks of its own. */
  readonly recipe: OperatorRecipe | null;
}

/** What tasks of an operator do, and what they ask for. */
export interface OperatorRecipe {
  /** What its tasks read: splits from outside, blocks as they come, or blocks that are gathered first, and how. */
  readonly input: "splits" | "operators" | Gather["kind"];
  /** The operators whose blocks are divided among its tasks. Every task reads its other inputs as a whole. */
  readonly flowsFrom: readonly OperatorId[];
  /** The operator's functions as they are shown: `map(addTax)`. */
  readonly functions: readonly string[];
  /** What the kernel runs: the SQL of its first split, if any, and that of its steps; long texts are cut. */
  readonly sql: readonly string[];
  /** Files that it reads from outside. */
  readonly files: number;
  readonly request: ResourceRequest;
  /** Tasks of it at once, at most. */
  readonly concurrency: number;
  /** Rows of a batch of its functions; null: none of them takes batches. */
  readonly batchSize: number | null;
  readonly maxRetries: number;
  readonly maxOomRetries: number;
  readonly skipped: Skipped;
  /** What its tasks ask for, as earlier runs have learned; null: nothing was learned. */
  readonly learned: LearnedNeed | null;
  /** What a task took in an earlier run; null: unknown. */
  readonly appetite: Bytes | null;
  /** What becomes of its rows. */
  readonly sink: "blocks" | "count" | "files";
}

/** A setting in force, as it is shown: values that may be secret are left out. */
export interface SettingShown {
  readonly path: string;
  readonly value: string;
  /** As in "default", "SPILLWAY_WORKERS" or the name of a file. */
  readonly from: string;
}

export interface WorkerMemoryReading extends MemoryKinds {
  readonly worker: WorkerId;
  readonly private: Bytes;
  /** Memory that it shares with other processes: blocks that it has mapped. */
  readonly shared: Bytes;
  readonly children: number;
  readonly pressure: Pressure;
}

/**
 * The format of the events, for files of other versions. Give it the next number when readers count on a new field, or
 * when a field means something else.
 */
export const EVENT_FORMAT = 1;

export type SessionFact =
  /** The first event. `epoch`: the start of the clock of `at`, in milliseconds since 1970. */
  | {
      readonly type: "sessionStarted";
      /** Comes right after the type: the beginning of an event file tells whether the file can be read. */
      readonly format: number;
      readonly session: string;
      readonly epoch: Milliseconds;
      readonly host: string;
      readonly pid: number;
      readonly program: number;
      readonly node: string;
      readonly workers: number;
      readonly capacity: Bytes;
      readonly workerMemory: Bytes | null;
      /** The most threads of the wide kernel. The kernel of a worker has one. */
      readonly kernelThreads: number;
      readonly maxBlockSize: Bytes;
      /** The machine's memory, or that of its container. */
      readonly nodeMemory: Bytes;
      readonly thresholds: Readonly<Record<string, number | false>>;
      readonly nodeThreshold: number | null;
      readonly settings: readonly SettingShown[];
    }
  /** The last event of a session that was closed. A killed session has none. */
  | { readonly type: "sessionEnded" };

export type JobEvent =
  | { readonly type: "jobStarted"; readonly job: JobId; readonly operators: readonly OperatorPlan[] }
  /** Operators that take the place of one that ran out of memory. */
  | { readonly type: "operatorsAdded"; readonly job: JobId; readonly operators: readonly OperatorPlan[] }
  | { readonly type: "job"; readonly job: JobId; readonly to: JobPhase }
  /** The program is told how the job has ended. */
  | { readonly type: "jobFinished"; readonly job: JobId; readonly rows: number }
  | { readonly type: "jobFailed"; readonly job: JobId; readonly error: ToldError }
  /** The wide kernel has more on disk for the job than ever before. */
  | { readonly type: "kernelSpilled"; readonly job: JobId; readonly operator: OperatorId; readonly bytes: Bytes };

export type OperatorEvent =
  | { readonly type: "operatorEnded"; readonly job: JobId; readonly operator: OperatorId }
  /** All of its gathered input is there: so many tasks will read it. */
  | { readonly type: "tasksKnown"; readonly job: JobId; readonly operator: OperatorId; readonly tasks: number }
  /** In which way it runs from now on. */
  | {
      readonly type: "way";
      readonly job: JobId;
      readonly operator: OperatorId;
      readonly to: "kernel" | "undecided" | "waiting" | "asked" | "exchange";
    }
  /** An operator without tasks has passed a block on, or a part of one. */
  | { readonly type: "slicePassed"; readonly job: JobId; readonly operator: OperatorId; readonly rows: number }
  /** What its tasks ask for from now on, because one of them ran out of memory. */
  | { readonly type: "learned"; readonly job: JobId; readonly operator: OperatorId; readonly need: LearnedNeed }
  /** What a task of it is expected to take, from now on. */
  | { readonly type: "appetite"; readonly job: JobId; readonly operator: OperatorId; readonly appetite: Appetite }
  /**
   * The policy that holds the operator back from now on; null: none. The time from one of these events to the next is
   * how long.
   */
  | {
      readonly type: "heldBack";
      readonly job: JobId;
      readonly operator: OperatorId;
      readonly policy: string | null;
    };

export type TaskEvent =
  /** `repairs`: the lost block that the task makes again. */
  | {
      readonly type: "taskFormed";
      readonly task: TaskId;
      readonly job: JobId;
      readonly operator: OperatorId;
      readonly index: number;
      readonly bytesIn: Bytes | null;
      readonly repairs?: BlockId;
    }
  /** `worker`: the worker that gets the task, when the task begins to run. */
  | { readonly type: "task"; readonly task: TaskId; readonly to: TaskPhase; readonly worker?: WorkerId }
  /** What running tasks of a job have done so far: those that have said something new. */
  | {
      readonly type: "taskProgress";
      readonly job: JobId;
      readonly tasks: readonly ({ readonly task: TaskId } & TaskProgress)[];
    }
  | ({ readonly type: "taskDone"; readonly task: TaskId } & TaskFigures & Pick<TaskReport, "byReference">)
  /** Its operator ended before it did: what it had handed over. */
  | { readonly type: "taskCut"; readonly task: TaskId; readonly rows: number; readonly bytes: Bytes }
  /** A task of the wide kernel did not get to its end: so many blocks of it are thrown away, and made again. */
  | { readonly type: "outputDropped"; readonly task: TaskId; readonly blocks: number }
  | { readonly type: "taskFailed"; readonly task: TaskId; readonly files: readonly string[]; readonly error: ToldError }
  /** Its worker crashed, and the task is run again. After running out of memory the event is `oomRetry`. */
  | {
      readonly type: "retry";
      readonly task: TaskId;
      readonly operator: string;
      readonly worker: WorkerId;
      /** What the task reads from outside; the first ones where they are many. */
      readonly files: readonly string[];
      readonly attempt: number;
      readonly reason: DeathReason;
    };

export type WorkerEvent =
  | {
      readonly type: "workerStarting";
      readonly worker: WorkerId;
      readonly kind: "worker" | "wide";
      readonly limit: Bytes | null;
    }
  /** `busy`, and `idle` after it, are not told: the moves of its task say them. */
  | { readonly type: "worker"; readonly worker: WorkerId; readonly to: WorkerPhase; readonly pid?: number }
  /** A worker process has ended, with everything known about that moment. */
  | {
      readonly type: "workerGone";
      readonly worker: WorkerId;
      readonly pid: number;
      readonly reason: DeathReason;
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly task: TaskId | null;
      readonly operator: string | null;
      readonly files: readonly string[];
      /** Why the session chose to end it. */
      readonly endedFor: string | null;
      readonly limit: Bytes | null;
      /** The worker's private memory in its last seconds, as pairs of time and bytes, oldest first. */
      readonly curve: readonly (readonly [Milliseconds, Bytes])[];
      /** The memory used on the node in its last seconds, likewise. */
      readonly nodeCurve: readonly (readonly [Milliseconds, Bytes])[];
      readonly node: NodeSnapshot | null;
      /** The workers that ran at the same time. */
      readonly beside: readonly BesideWorker[];
      readonly log: string;
    };

export interface BesideWorker {
  readonly worker: WorkerId;
  readonly task: TaskId;
  readonly operator: string;
  readonly private: Bytes | null;
}

export type BlockEvent =
  /** `task`: null if the program made the block. `worker`: the worker that is answerable for it. */
  | {
      readonly type: "blockMade";
      readonly block: BlockId;
      readonly bytes: Bytes;
      readonly rows: number;
      readonly task: TaskId | null;
      readonly worker: WorkerId | null;
    }
  /** `isWritten`: it was written to disk, and stays in memory, because it is being read. */
  | { readonly type: "block"; readonly block: BlockId; readonly to: BlockState; readonly isWritten?: true }
  /** It was handed to the program, which holds it from now on. */
  | { readonly type: "blockDelivered"; readonly block: BlockId; readonly job: JobId; readonly rows: number }
  | { readonly type: "blockFreed"; readonly block: BlockId };

export type MemoryEvent =
  | {
      readonly type: "memory";
      readonly workers: readonly WorkerMemoryReading[];
      readonly supervisor: ProcessMemory;
      readonly program: ProcessMemory;
      /** Bytes of blocks in memory, of blocks on disk before compression, and of the spill files. */
      readonly store: { readonly resident: Bytes; readonly onDisk: Bytes; readonly files: Bytes };
      /** What one worker may have, and all of them together with what the wide kernel is lent; null: no limit. */
      readonly workerLimit: Bytes | null;
      readonly limit: Bytes | null;
    }
  | ({ readonly type: "node" } & NodeMemory);

export type StreamEvent =
  | SessionFact
  | JobEvent
  | OperatorEvent
  | TaskEvent
  | WorkerEvent
  | BlockEvent
  | MemoryEvent
  | NoticeMessage
  | SessionEvent;

/** An event with its time: milliseconds since the session's `epoch`, by a clock that never goes back. */
export type RecordedEvent = StreamEvent & { readonly at: Milliseconds };
