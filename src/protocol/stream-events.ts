/**
 * The event stream of a session: everything that happens in it, one object an event. Observers get it live, the
 * session's event file keeps it, and `src/events/` makes the same state of both. `docs/events.md` has a row for each
 * kind; a test compares the two. No event holds rows, SQL, functions, tokens, environment variables or option values.
 */
import type { BlockId, Bytes, JobId, Milliseconds, OperatorId, TaskId, WorkerId } from "./job.ts";
import type { DeathReason, MemoryKinds, NodeMemory, NodeSnapshot, Pressure, ProcessMemory } from "./memory.ts";
import type { NoticeMessage } from "./notices.ts";
import type { BlockState, JobPhase, TaskPhase, WorkerPhase } from "./phases.ts";
import type { SessionEvent } from "./session-events.ts";
import type { TaskReport } from "./stats.ts";

/** An error without its stack, which may hold values of the user's. */
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
  /** Tasks that it has whatever comes; others are formed as blocks come. */
  readonly tasks: number;
}

export interface WorkerMemoryReading extends MemoryKinds {
  readonly worker: WorkerId;
  readonly private: Bytes;
  readonly children: number;
  readonly pressure: Pressure;
}

/** What a finished task did, as its worker reported it. */
export type TaskFigures = Pick<
  TaskReport,
  "rowsIn" | "rowsOut" | "bytesOut" | "wall" | "cpu" | "peakMemory" | "errored"
>;

export type SessionFact =
  /** The first event. `epoch`: what `at` counts from, in milliseconds since 1970. */
  | {
      readonly type: "sessionStarted";
      readonly session: string;
      readonly epoch: Milliseconds;
      readonly host: string;
      readonly pid: number;
      readonly program: number;
      readonly node: string;
      readonly workers: number;
      readonly capacity: Bytes;
      readonly workerMemory: Bytes | null;
      readonly thresholds: Readonly<Record<string, number | false>>;
      readonly nodeThreshold: number | null;
    }
  /** The last event of a session that was closed; a killed one has none. */
  | { readonly type: "sessionEnded" };

export type JobEvent =
  | { readonly type: "jobStarted"; readonly job: JobId; readonly operators: readonly OperatorPlan[] }
  | { readonly type: "job"; readonly job: JobId; readonly to: JobPhase }
  /** The program is told how the job has ended. */
  | { readonly type: "jobFinished"; readonly job: JobId; readonly rows: number }
  | { readonly type: "jobFailed"; readonly job: JobId; readonly error: ToldError };

export type OperatorEvent =
  | { readonly type: "operatorEnded"; readonly job: JobId; readonly operator: OperatorId }
  /**
   * The policy that holds the operator back from now on; null: none does. The time between two of these is how long.
   */
  | {
      readonly type: "heldBack";
      readonly job: JobId;
      readonly operator: OperatorId;
      readonly policy: string | null;
    };

export type TaskEvent =
  /** `repairs`: the lost block that it makes again. */
  | {
      readonly type: "taskFormed";
      readonly task: TaskId;
      readonly job: JobId;
      readonly operator: OperatorId;
      readonly index: number;
      readonly bytesIn: Bytes | null;
      readonly repairs?: BlockId;
    }
  /** `worker`: the one that it is given, where it begins to run. */
  | { readonly type: "task"; readonly task: TaskId; readonly to: TaskPhase; readonly worker?: WorkerId }
  | ({ readonly type: "taskDone"; readonly task: TaskId } & TaskFigures)
  | { readonly type: "taskFailed"; readonly task: TaskId; readonly error: ToldError }
  /** Its worker crashed, and it is run again; for a want of memory that is `oomRetry`. */
  | {
      readonly type: "retry";
      readonly task: TaskId;
      readonly operator: string;
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
  | { readonly type: "worker"; readonly worker: WorkerId; readonly to: WorkerPhase; readonly pid?: number }
  /** Its process has ended: all that is known of the moment. */
  | {
      readonly type: "workerGone";
      readonly worker: WorkerId;
      readonly pid: number;
      readonly reason: DeathReason;
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly task: TaskId | null;
      readonly operator: string | null;
      /** Why it was chosen to be ended from here. */
      readonly endedFor: string | null;
      readonly limit: Bytes | null;
      /** Its private memory in its last seconds, as pairs of time and bytes, oldest first. */
      readonly curve: readonly (readonly [Milliseconds, Bytes])[];
      readonly node: NodeSnapshot | null;
      /** What ran beside it. */
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
  /** `task`: null where the program made it. `worker`: who is answerable for it. */
  | {
      readonly type: "blockMade";
      readonly block: BlockId;
      readonly bytes: Bytes;
      readonly rows: number;
      readonly task: TaskId | null;
      readonly worker: WorkerId | null;
    }
  | { readonly type: "block"; readonly block: BlockId; readonly to: BlockState }
  /** It was handed to the program, which holds it from now on. */
  | { readonly type: "blockDelivered"; readonly block: BlockId; readonly job: JobId; readonly rows: number }
  | { readonly type: "blockFreed"; readonly block: BlockId };

export type MemoryEvent =
  | {
      readonly type: "memory";
      readonly workers: readonly WorkerMemoryReading[];
      readonly supervisor: ProcessMemory;
      readonly program: ProcessMemory;
      /** Blocks in memory, blocks on disk before compression, and the size of the spill files. */
      readonly store: { readonly resident: Bytes; readonly onDisk: Bytes; readonly files: Bytes };
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

/** With its time: milliseconds since the `epoch` of the session, by a clock that never goes back. */
export type RecordedEvent = StreamEvent & { readonly at: Milliseconds };
