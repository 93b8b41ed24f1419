/**
 * Every message between the program, the supervisor and the workers. A `request` number pairs an answer with its
 * question; everything else is a fact or an order.
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
  OperatorId,
  PlacedSlice,
  Sink,
  Split,
  Step,
  TaskId,
  WorkerId,
} from "./job.ts";
import type { HeapUse, SessionMemory } from "./memory.ts";
import type { NoticeMessage } from "./notices.ts";
import type { SessionResources } from "./resources.ts";
import type { TimedEvent } from "./session-events.ts";
import type { JobStats, TaskReport } from "./stats.ts";

/** The arena as each process maps it. */
export interface ArenaPlace {
  readonly path: string;
  /** The sparse file's size; larger than the capacity, so that fragments never matter. */
  readonly size: Bytes;
  readonly capacity: Bytes;
}

/** A row of an `inspect` answer: plain JSON values, bigints as text. */
export type InspectedRow = Readonly<Record<string, unknown>>;

export type ProgramMessage =
  /** `container`: the user's for every worker, as base64. */
  | { readonly type: "hello"; readonly pid: number; readonly token: string; readonly container?: string }
  /** Ask for room to write a block; answered when there is room. */
  | { readonly type: "reserve"; readonly request: number; readonly bytes: Bytes }
  /** The range is written; `length` is what was used of it. The program holds one reference. */
  | {
      readonly type: "seal";
      readonly request: number;
      readonly range: ArenaRange;
      readonly length: Bytes;
      readonly rows: number;
      readonly checksum: number;
    }
  | { readonly type: "release"; readonly blocks: readonly BlockId[] }
  /** Output blocks that the program has read and holds on to: they may go to disk. */
  | { readonly type: "keep"; readonly blocks: readonly BlockId[] }
  /** The answer to `collect`, after what was found has been released. */
  | { readonly type: "collected"; readonly took: Milliseconds }
  /** Metadata for planning, from any worker; asked again so often where that one dies. */
  | { readonly type: "inspect"; readonly request: number; readonly sql: string; readonly maxRetries: number }
  /** What is there, and what of it is in use? */
  | { readonly type: "resources"; readonly request: number }
  /** Where is the memory? */
  | { readonly type: "memory"; readonly request: number }
  /** The memory limit of every worker from now on, and the heap of those that start; null: none. */
  | {
      readonly type: "setMemoryLimit";
      readonly request: number;
      readonly limit: Bytes | null;
      readonly heap: Bytes | null;
    }
  /** Even out the blocks that workers are answerable for. */
  | { readonly type: "rebalance"; readonly request: number }
  /** Call a function (as base64) in every worker. */
  | { readonly type: "call"; readonly request: number; readonly payload: string }
  /** Give back to the system what no worker needs. */
  | { readonly type: "trim"; readonly request: number }
  | { readonly type: "start"; readonly job: JobSpec }
  /** The program can take this many more output blocks. */
  | { readonly type: "want"; readonly job: JobId; readonly blocks: number }
  /** `tell`: the program waits to hear how the job has ended; without it, it has forgotten the job. */
  | { readonly type: "cancel"; readonly job: JobId; readonly tell?: true }
  | { readonly type: "close"; readonly request: number };

export type ToProgram =
  | {
      readonly type: "welcome";
      readonly session: string;
      readonly directory: string;
      readonly arena: ArenaPlace;
      readonly workers: number;
    }
  | { readonly type: "reserved"; readonly request: number; readonly range: ArenaRange }
  | { readonly type: "sealed"; readonly request: number; readonly block: BlockRef }
  | { readonly type: "inspected"; readonly request: number; readonly rows: readonly InspectedRow[] }
  | { readonly type: "resources"; readonly request: number; readonly resources: SessionResources }
  | { readonly type: "memory"; readonly request: number; readonly memory: SessionMemory }
  | { readonly type: "limitSet"; readonly request: number }
  | { readonly type: "rebalanced"; readonly request: number; readonly moved: readonly BlockMove[] }
  | { readonly type: "called"; readonly request: number; readonly answers: readonly WorkerAnswer[] }
  | { readonly type: "trimmed"; readonly request: number; readonly workers: readonly TrimReport[] }
  | { readonly type: "event"; readonly event: TimedEvent }
  /** The store is short of room: collect garbage, and release what nothing refers to any more. */
  | { readonly type: "collect" }
  | { readonly type: "refused"; readonly request: number; readonly error: WireError }
  /**
   * The program now holds one reference to the slice's block, which stays in `range` until it is released or kept.
   * `copy`: it has much of the store already, and a block that is to be read and not kept shall be copied and released
   * at once.
   */
  | {
      readonly type: "output";
      readonly job: JobId;
      readonly slice: BlockSlice;
      readonly range: ArenaRange;
      readonly copy: boolean;
    }
  | { readonly type: "progress"; readonly job: JobId; readonly stats: JobStats }
  /** `rows`: what the job's last operator handed over (for a count, what it counted). */
  | { readonly type: "finished"; readonly job: JobId; readonly stats: JobStats; readonly rows: number }
  | { readonly type: "failed"; readonly job: JobId; readonly error: WireError; readonly stats: JobStats }
  | NoticeMessage
  | { readonly type: "closed"; readonly request: number };

/** A block for which another worker is answerable now; null: none that lives. */
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
  /** Steps that were left out, and why: "malloc_trim: the allocator is jemalloc". */
  readonly skipped: readonly string[];
}

/** A block that an earlier attempt of a task handed over already: a replay must make the same again. */
export interface HandedOver {
  readonly rows: number;
  readonly length: Bytes;
  readonly checksum: number;
}

export interface TaskOrder {
  readonly id: TaskId;
  readonly job: JobId;
  readonly operator: OperatorId;
  /** The task's place in its operator, from 0: names its files, orders its output. */
  readonly index: number;
  readonly attempt: number;
  readonly input: TaskInput;
  /** Where the payload of each of the operator's functions lies, in the order of the steps. */
  readonly payloads: readonly ArenaRange[];
  /** The operator's broadcast tables, each as its blocks. */
  readonly broadcast: readonly (readonly PlacedSlice[])[];
  readonly handedOver: readonly HandedOver[];
  /**
   * Run again for this block of `handedOver` alone: those before it are made and compared, it is handed over, the rest
   * is left.
   */
  readonly repair?: number;
  /** GPUs that it may use; null where the session has none and the environment stays as it is. */
  readonly devices: readonly string[] | null;
  /** Rows of a call at most, where that is less than the operator says: it ran out of memory before. */
  readonly batchSize?: number;
  /** Calls of an async function under way at once at most, for the same reason. */
  readonly maxInFlight?: number;
  /** It was refused memory with all that there is: `onError` may drop the row that asks for so much. */
  readonly blamesRows?: true;
  /** What the worker's kernel may use for this task, where that is more than the worker was given. */
  readonly lease?: KernelLease;
}

/** What a kernel may use: threads, and bytes of its own buffers before it goes to disk, in its own `directory`. */
export interface KernelLease {
  readonly threads: number;
  /** Null: the kernel's own idea. */
  readonly memory: Bytes | null;
}

/** What a task reads; blocks are pinned where they are until it ends. */
export type TaskInput =
  | Exclude<Split, { kind: "blocks" }>
  | { readonly kind: "blocks"; readonly slices: readonly PlacedSlice[] }
  /** What comes by `feed`, table by table in any order, until `feedEnd`. */
  | { readonly kind: "fed"; readonly tables: readonly FedTable["columns"][]; readonly reads?: FilesRead };

/** An operator as a worker needs it; sent once to a worker before its first task of it. */
export interface OperatorOrder {
  readonly job: JobId;
  readonly operator: OperatorId;
  readonly name: string;
  readonly steps: readonly Step[];
  readonly sink: Sink;
  readonly maxRowsPerTask: number | null;
  /** Its rows have an order that must be kept. */
  readonly setsOrder: boolean;
  /** Of each broadcast table: what it holds if it has no blocks. */
  readonly broadcast: readonly FedTable["columns"][];
}

export type ToWorker =
  | {
      readonly type: "welcome";
      readonly worker: WorkerId;
      readonly arena: ArenaPlace;
      readonly directory: string;
      readonly lease: KernelLease;
      /** Bytes that it may allocate beside what it has at its start (RLIMIT_DATA); null: as many as there are. */
      readonly allowance: Bytes | null;
      /** A container of the user's for this worker, as base64; null: none. */
      readonly container: string | null;
    }
  | { readonly type: "allowance"; readonly bytes: Bytes | null }
  /** Collect garbage and give memory back to the system. Without a request it is the scheduler that wants it. */
  | { readonly type: "trim"; readonly request: number | null }
  | { readonly type: "call"; readonly request: number; readonly payload: string }
  /** The container shall let go of so many bytes. */
  | { readonly type: "evict"; readonly bytes: Bytes }
  | { readonly type: "operator"; readonly order: OperatorOrder }
  | { readonly type: "run"; readonly task: TaskOrder }
  | { readonly type: "cancel"; readonly task: TaskId }
  | { readonly type: "reserved"; readonly task: TaskId; readonly range: ArenaRange }
  /** More input of a fed task; the blocks are pinned until it says `fed`, once for each message. */
  | {
      readonly type: "feed";
      readonly task: TaskId;
      readonly table: number;
      readonly slices: readonly PlacedSlice[];
    }
  | { readonly type: "feedEnd"; readonly task: TaskId }
  /** What the kernel may use from now on. */
  | { readonly type: "lease"; readonly lease: KernelLease }
  /** The operator has ended: dispose its instances, forget its functions. */
  | { readonly type: "retire"; readonly job: JobId; readonly operator: OperatorId }
  | {
      readonly type: "inspect";
      readonly request: number;
      readonly sql: string;
      /** Of a kernel that ran out of memory for it before. */
      readonly lease?: KernelLease;
    }
  | { readonly type: "exit" };

export type WorkerMessage =
  | { readonly type: "ready"; readonly worker: WorkerId; readonly pid: number; readonly token: string }
  /** A full block waits for room: this is also the task's asking for credit. */
  | { readonly type: "reserve"; readonly task: TaskId; readonly bytes: Bytes }
  | {
      readonly type: "output";
      readonly task: TaskId;
      readonly range: ArenaRange;
      readonly length: Bytes;
      readonly rows: number;
      readonly checksum: number;
      /** The block's columns: blocks that meet must have the same. */
      readonly columns?: readonly string[];
      /** Of each of these: what meets in one column must be of one family. */
      readonly types?: readonly TypeFamily[];
      /** Where the sink scatters: which partition all its rows are of. */
      readonly partition?: number;
    }
  /** The oldest `feed` that was not answered yet has been read. */
  | { readonly type: "fed"; readonly task: TaskId }
  /** What the kernel of a fed task holds in memory and on disk, from time to time. */
  | { readonly type: "kernel"; readonly memory: Bytes; readonly spilled: Bytes }
  /** What the user's container holds in memory, and whether it can be asked to let go of some; from time to time. */
  | { readonly type: "container"; readonly bytes: Bytes; readonly evicts: boolean }
  /** It was asked to, and has let go of all that it can for now. */
  | { readonly type: "spent" }
  | {
      readonly type: "trimmed";
      readonly request: number | null;
      readonly report: TrimReport;
      readonly heap: HeapUse;
    }
  | { readonly type: "called"; readonly request: number; readonly answer: WorkerAnswer }
  | { readonly type: "done"; readonly task: TaskId; readonly report: TaskReport; readonly heap: HeapUse }
  | { readonly type: "failed"; readonly task: TaskId; readonly error: WireError }
  | { readonly type: "cancelled"; readonly task: TaskId }
  | { readonly type: "retired"; readonly job: JobId; readonly operator: OperatorId; readonly error: WireError | null }
  | { readonly type: "inspected"; readonly request: number; readonly rows: readonly InspectedRow[] }
  | { readonly type: "refused"; readonly request: number; readonly error: WireError }
  | NoticeMessage;
