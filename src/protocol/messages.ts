/**
 * Every message between the program, the supervisor and the workers. A `request` number pairs an answer with its
 * question; every other message is a fact or an order.
 */
import type { TypeFamily } from "../arrow/index.ts";
import type { WireError } from "../errors/index.ts";
import type {
  ArenaRange,
  BlockId,
  BlockRef,
  BlockSlice,
  Bytes,
  FedTable,
  FilesRead,
  JobId,
  JobSpec,
  Milliseconds,
  Operator,
  OperatorId,
  PlacedSlice,
  SeenColumns,
  Split,
  TaskId,
  WorkerId,
  WorkerOperator,
} from "./job.ts";
import type { QuickQuestion } from "./joined-files.ts";
import type { HeapUse, SessionMemory } from "./memory.ts";
import type { NoticeMessage } from "./notices.ts";
import type { SessionResources } from "./resources.ts";
import type { TimedEvent } from "./session-events.ts";
import type { JobStats, TaskReport, ToldProgress, WrittenFile } from "./stats.ts";

/** The arena as each process maps it. */
export interface ArenaPlace {
  readonly path: string;
  /** The size of the sparse file. It is larger than the capacity, so that fragmentation never matters. */
  readonly size: Bytes;
  readonly capacity: Bytes;
}

/** A row of the answer to `inspect`: plain JSON values, bigints as text. */
export type InspectedRow = Readonly<Record<string, unknown>>;

export type ProgramMessage =
  /** `workerData`: the worker data for every worker, as base64. */
  | { readonly type: "hello"; readonly pid: number; readonly token: string; readonly workerData?: string }
  /** Asks for room to write a block. Answered when there is room. */
  | { readonly type: "reserve"; readonly request: number; readonly bytes: Bytes }
  /** The range is written; `length` is the used part of it. The program holds one reference. */
  | {
      readonly type: "seal";
      readonly request: number;
      readonly range: ArenaRange;
      readonly length: Bytes;
      readonly rows: number;
      readonly checksum: number;
    }
  | { readonly type: "release"; readonly blocks: readonly BlockId[] }
  /** Output blocks that the program has read and keeps: they may be spilled. */
  | { readonly type: "keep"; readonly blocks: readonly BlockId[] }
  /** The answer to `collect`, sent after the unreferenced blocks were released. */
  | { readonly type: "collected"; readonly took: Milliseconds }
  /**
   * A planner's question about metadata, for any worker. If the worker dies, the question is asked again this many
   * times.
   */
  | {
      readonly type: "inspect";
      readonly request: number;
      readonly sql: string;
      readonly quick?: QuickQuestion;
      readonly maxRetries: number;
    }
  /** Asks for the session's resources and their use. */
  | { readonly type: "resources"; readonly request: number }
  /** Asks where the memory is. */
  | { readonly type: "memory"; readonly request: number }
  /** The memory limit of every worker from now on, and the heap limit of workers that start; null: none. */
  | {
      readonly type: "setMemoryLimit";
      readonly request: number;
      readonly limit: Bytes | null;
      readonly heap: Bytes | null;
      /** They follow from the memory that the session may use. */
      readonly isAutomatic: boolean;
    }
  /** The program has grown to this many bytes, and goes on when there is room for it. */
  | { readonly type: "holds"; readonly request: number; readonly bytes: Bytes }
  /** Evens out the blocks that workers are answerable for. */
  | { readonly type: "rebalance"; readonly request: number }
  /** Calls a function (as base64) in every worker. */
  | { readonly type: "call"; readonly request: number; readonly payload: string }
  /** Gives memory that no worker needs back to the system. */
  | { readonly type: "trim"; readonly request: number }
  | { readonly type: "start"; readonly job: JobSpec }
  /** The answer to `otherWay`: operators that take the place of the wide one, the last of them makes its rows. */
  | ({ readonly type: "wayPlanned"; readonly job: JobId; readonly operator: OperatorId } & (
      | { readonly operators: readonly Operator[] }
      | { readonly error: WireError }
    ))
  /** The program can take this many more output blocks. */
  | { readonly type: "want"; readonly job: JobId; readonly blocks: number }
  /** `tell`: the program waits to hear how the job has ended. Without it, the program has forgotten the job. */
  | { readonly type: "cancel"; readonly job: JobId; readonly tell?: true }
  | { readonly type: "close"; readonly request: number };

export type ToProgram =
  | {
      readonly type: "welcome";
      readonly session: string;
      readonly directory: string;
      readonly arena: ArenaPlace;
      readonly workers: number;
      /** The dashboard's address with its token; null when there is no dashboard. */
      readonly dashboard: string | null;
    }
  | { readonly type: "reserved"; readonly request: number; readonly range: ArenaRange }
  | { readonly type: "sealed"; readonly request: number; readonly block: BlockRef }
  | { readonly type: "inspected"; readonly request: number; readonly rows: readonly InspectedRow[] }
  | { readonly type: "resources"; readonly request: number; readonly resources: SessionResources }
  | { readonly type: "memory"; readonly request: number; readonly memory: SessionMemory }
  | { readonly type: "limitSet"; readonly request: number }
  /** The answer to `holds`: the program asks again when it holds more than this. */
  | { readonly type: "roomMade"; readonly request: number; readonly until: Bytes }
  | { readonly type: "rebalanced"; readonly request: number; readonly moved: readonly BlockMove[] }
  | { readonly type: "called"; readonly request: number; readonly answers: readonly WorkerAnswer[] }
  | { readonly type: "trimmed"; readonly request: number; readonly workers: readonly TrimReport[] }
  | { readonly type: "event"; readonly event: TimedEvent }
  /**
   * The wide kernel has run out of memory for the operator: plan it in another way. `made`: what its inputs come to.
   */
  | {
      readonly type: "otherWay";
      readonly job: JobId;
      readonly operator: OperatorId;
      readonly made: readonly { readonly operator: OperatorId; readonly bytes: Bytes }[];
    }
  /** The store is short of room: collect garbage and release blocks without references. */
  | { readonly type: "collect" }
  | { readonly type: "refused"; readonly request: number; readonly error: WireError }
  /**
   * The program now holds one reference to the slice's block, which stays in `range` until it is released or kept.
   * `copy`: the program holds much of the store already, so it must copy and release at once a block that it reads and
   * does not keep.
   */
  | {
      readonly type: "output";
      readonly job: JobId;
      readonly slice: BlockSlice;
      readonly range: ArenaRange;
      readonly copy: boolean;
    }
  | (JobNews & { readonly stats: JobStats })
  | NoticeMessage
  | { readonly type: "closed"; readonly request: number };

/** How a job goes on. Its figures, which events come to, are added on the way to the program. */
export type JobNews =
  | { readonly type: "progress"; readonly job: JobId }
  /**
   * `rows`: what the job's last operator handed over (for a count, the number it counted). `files`: what the job has
   * written.
   */
  | {
      readonly type: "finished";
      readonly job: JobId;
      readonly rows: number;
      readonly files: readonly WrittenFile[];
    }
  | { readonly type: "failed"; readonly job: JobId; readonly error: WireError };

/** A block for which another worker is answerable now; null: no living worker. */
export interface BlockMove {
  readonly block: BlockId;
  readonly bytes: Bytes;
  readonly from: WorkerId | null;
  readonly to: WorkerId;
}

/** What a function returned in a worker (as v8.serialize writes it, as base64), or how it failed there. */
export interface WorkerAnswer {
  readonly worker: WorkerId;
  readonly value: string | null;
  readonly error: WireError | null;
}

export interface TrimReport {
  readonly worker: WorkerId;
  /** Private memory before and after. */
  readonly before: Bytes;
  readonly after: Bytes;
  /** Steps that were skipped, and why: "malloc_trim: the allocator is jemalloc". */
  readonly skipped: readonly string[];
}

/** A block that an earlier attempt of a task has already handed over: a replay must make the same block. */
export interface HandedOver {
  readonly rows: number;
  readonly length: Bytes;
  readonly checksum: number;
}

export interface TaskOrder {
  readonly id: TaskId;
  readonly job: JobId;
  readonly operator: OperatorId;
  /** The task's position in its operator, from 0. It names the task's files and orders its output. */
  readonly index: number;
  readonly attempt: number;
  readonly input: TaskInput;
  /** Where the payload of each of the operator's functions is, in the order of the steps. */
  readonly payloads: readonly ArenaRange[];
  /** The operator's broadcast tables, each as its blocks. */
  readonly broadcast: readonly (readonly PlacedSlice[])[];
  readonly handedOver: readonly HandedOver[];
  /**
   * The task is only run for this block of `handedOver`: earlier blocks are made and compared, this one is handed over,
   * and the rest is left out.
   */
  readonly repair?: number;
  /** The GPUs that it may use; null if the session has none, and the environment stays as it is. */
  readonly devices: readonly string[] | null;
  /** The most rows in a call, if fewer than the operator says: the task ran out of memory before. */
  readonly batchSize?: number;
  /** The largest block that it makes, if smaller than the operator says: the session has less memory than planned. */
  readonly blockBytes?: Bytes;
  /** The most calls of an async function under way at once, for the same reason. */
  readonly maxInFlight?: number;
  /** The task was refused memory although it had all the memory: `onError` may drop the row that asks for so much. */
  readonly blamesRows?: true;
  /** The most private memory that the worker may have with this task, where the node has less left than its limit. */
  readonly mostMemory?: Bytes;
  /** The worker is to say what memory the task took for the first batch that its functions hand on. */
  readonly tellsBatch?: true;
  /** What the worker's kernel may use for this task, if more than the worker's own lease. */
  readonly lease?: KernelLease;
}

/** What a kernel may use: threads, and bytes of its own buffers before it writes to disk, in its own `directory`. */
export interface KernelLease {
  readonly threads: number;
  /** Null: the kernel's default. */
  readonly memory: Bytes | null;
}

/** What a task reads. Blocks are pinned in place until it ends. */
export type TaskInput =
  | Exclude<Split, { kind: "blocks" }>
  | { readonly kind: "blocks"; readonly slices: readonly PlacedSlice[] }
  /** Comes by `feed`, table by table in any order, until `feedEnd`. */
  | {
      readonly kind: "fed";
      readonly tables: readonly FedTable["columns"][];
      /** For each table; null: the SQL may look at all. */
      readonly sees?: readonly (SeenColumns | null)[];
      readonly reads?: FilesRead;
    };

export type ToWorker =
  | {
      readonly type: "welcome";
      readonly worker: WorkerId;
      readonly arena: ArenaPlace;
      readonly directory: string;
      readonly lease: KernelLease;
      /** Bytes that it may allocate in addition to what it has at its start (RLIMIT_DATA); null: no limit. */
      readonly allowance: Bytes | null;
      /** The worker data for this worker, as base64; null: none. */
      readonly workerData: string | null;
      /** The directory of the worker's heap profiles. */
      readonly profiles: string;
    }
  | { readonly type: "allowance"; readonly bytes: Bytes | null }
  /** Collects garbage and gives memory back to the system. Without a request, the scheduler has ordered it. */
  | { readonly type: "trim"; readonly request: number | null }
  | { readonly type: "call"; readonly request: number; readonly payload: string }
  /** The worker data is asked to free this many bytes. */
  | { readonly type: "evict"; readonly bytes: Bytes }
  /** Sent before the worker's first task of the operator. */
  | { readonly type: "operator"; readonly job: JobId; readonly operator: WorkerOperator }
  | { readonly type: "run"; readonly task: TaskOrder }
  | { readonly type: "cancel"; readonly task: TaskId }
  | { readonly type: "reserved"; readonly task: TaskId; readonly range: ArenaRange }
  /** More input of a fed task. The blocks are pinned until the worker answers `fed`, once for each message. */
  | {
      readonly type: "feed";
      readonly task: TaskId;
      readonly table: number;
      readonly slices: readonly PlacedSlice[];
    }
  | { readonly type: "feedEnd"; readonly task: TaskId }
  /** What the kernel may use from now on. */
  | { readonly type: "lease"; readonly lease: KernelLease }
  /** The operator has ended: dispose of its instances, forget its functions. */
  | { readonly type: "retire"; readonly job: JobId; readonly operator: OperatorId }
  | {
      readonly type: "inspect";
      readonly request: number;
      readonly sql: string;
      readonly quick?: QuickQuestion;
      /** The lease of a kernel that already ran out of memory for this question. */
      readonly lease?: KernelLease;
    }
  /** Asks the worker to profile itself. Its profiling thread answers with `ProfilerMessage`. */
  | { readonly type: "profile"; readonly request: number; readonly seconds: number }
  | { readonly type: "exit" };

export type WorkerMessage =
  | { readonly type: "ready"; readonly worker: WorkerId; readonly pid: number; readonly token: string }
  /** A full block waits for room. This is also how the task asks for credit. */
  | { readonly type: "reserve"; readonly task: TaskId; readonly bytes: Bytes }
  | {
      readonly type: "output";
      readonly task: TaskId;
      readonly range: ArenaRange;
      readonly length: Bytes;
      readonly rows: number;
      readonly checksum: number;
      /** The block's columns: blocks that meet must have the same columns. */
      readonly columns?: readonly string[];
      /** A family for each column: types that meet in one column must be of the same family. */
      readonly types?: readonly TypeFamily[];
      /** If the sink scatters: the partition of all its rows. */
      readonly partition?: number;
    }
  /** The oldest `feed` without an answer has been read. */
  | { readonly type: "fed"; readonly task: TaskId }
  /** What the running task has done so far, sent when it has changed. */
  | ({ readonly type: "progress"; readonly task: TaskId } & ToldProgress)
  /** What the kernel of a fed task holds in memory and on disk; sent from time to time. */
  | { readonly type: "kernel"; readonly memory: Bytes; readonly spilled: Bytes }
  /** How much memory the worker data uses, and whether it can free some when asked; sent from time to time. */
  | { readonly type: "workerData"; readonly bytes: Bytes; readonly evicts: boolean }
  /** The worker data was asked to free memory, and has freed all that it can for now. */
  | { readonly type: "nothingToEvict" }
  | {
      readonly type: "trimmed";
      readonly request: number | null;
      readonly report: TrimReport;
      readonly heap: HeapUse;
    }
  | { readonly type: "called"; readonly request: number; readonly answer: WorkerAnswer }
  /** The task's functions have made their first batch: the most private memory so far, and the task's part of it. */
  | { readonly type: "firstBatch"; readonly task: TaskId; readonly peakMemory: Bytes; readonly addedMemory: Bytes }
  /** `left`: the private memory that the worker has after the task. */
  | {
      readonly type: "done";
      readonly task: TaskId;
      readonly report: TaskReport;
      readonly heap: HeapUse;
      readonly left: Bytes;
    }
  | { readonly type: "failed"; readonly task: TaskId; readonly error: WireError }
  | { readonly type: "cancelled"; readonly task: TaskId }
  /** An on-demand profile cannot begin. */
  | { readonly type: "notProfiled"; readonly request: number; readonly problem: string }
  | { readonly type: "retired"; readonly job: JobId; readonly operator: OperatorId; readonly error: WireError | null }
  | { readonly type: "inspected"; readonly request: number; readonly rows: readonly InspectedRow[] }
  | { readonly type: "refused"; readonly request: number; readonly error: WireError }
  | NoticeMessage;

/**
 * What a worker's profiling thread says over a connection of its own, because the worker itself may be busy inside a
 * function.
 */
export type ProfilerMessage =
  | { readonly type: "profiler"; readonly worker: WorkerId; readonly token: string; readonly request: number }
  /** `file` is in the session's profiles; it may not have been written. */
  | { readonly type: "profiled"; readonly request: number; readonly file: string; readonly problem: string | null };
