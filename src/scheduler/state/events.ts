/** What the scheduler is told and what it orders: its whole contact with the world, and plain data. */

import type { WireError } from "../../errors/index.ts";
import type {
  ArenaRange,
  BlockId,
  Bytes,
  DeathReason,
  FileSink,
  JobId,
  KillReason,
  Milliseconds,
  NodeMemory,
  NodeSnapshot,
  ProcessMemory,
  ProgramMessage,
  SessionEvent,
  ToProgram,
  ToWorker,
  WorkerId,
  WorkerMessage,
  WorkerReading,
  WrittenFile,
} from "../../protocol/index.ts";
import type { RestoreOrder, SpillOrder, SpillPlace } from "../../store/index.ts";

/** How a worker process ended. */
export interface WorkerEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly cause: DeathReason;
  /** The last lines of its log, and where it is. */
  readonly tail: string;
  readonly log: string;
  /** Its private memory in its last seconds, oldest first. */
  readonly curve: readonly { readonly at: Milliseconds; readonly private: Bytes }[];
  /** How often the system's OOM killer has struck since it began: in its control group, and on the machine. */
  readonly oomKills: { readonly container: number; readonly machine: number };
  /** Null where nobody looked. */
  readonly node: NodeSnapshot | null;
  /** It was ended because nothing could be told to it: it has never connected, or its connection was closed under it. */
  readonly connection?: "never" | "broken";
}

/** What was to be seen when a task failed for want of memory and its process lives. */
export interface Scene {
  readonly node: NodeSnapshot;
  /** Where its worker's log is. */
  readonly log: string;
}

export type Event =
  /** `memory`: its limit, where it is not the session's. */
  | { readonly type: "workerStarting"; readonly worker: WorkerId; readonly memory?: Bytes; readonly isWide?: boolean }
  | { readonly type: "workerReady"; readonly worker: WorkerId; readonly pid: number }
  /** Its process has ended and everything that it had sent has been handled. */
  | { readonly type: "workerGone"; readonly worker: WorkerId; readonly end: WorkerEnd }
  /** Workers end again and again, and what waits for one waits in vain; also what comes later, unless they are tried then. */
  | { readonly type: "workersUnavailable"; readonly error: WireError; readonly until?: "work" }
  /** `oomKill`: a function failed, and a moment ago the system killed a process for want of memory: a child of its, maybe. */
  | {
      readonly type: "fromWorker";
      readonly worker: WorkerId;
      readonly message: TaskMessage;
      readonly oomKill?: Extract<DeathReason, "systemOom" | "cgroupOom">;
      readonly scene?: Scene;
    }
  | { readonly type: "fromProgram"; readonly message: JobMessage }
  /** The answer to `commit`: the files are in place, or none is. */
  | { readonly type: "committed"; readonly job: JobId; readonly error: WireError | null }
  /** The answer to `discard`. */
  | { readonly type: "discarded"; readonly job: JobId }
  /** The answers to `spill`: all blocks of it are on disk, or none is. */
  | { readonly type: "spilled"; readonly blocks: readonly { readonly id: BlockId; readonly place: SpillPlace }[] }
  | { readonly type: "notSpilled"; readonly blocks: readonly BlockId[]; readonly error: WireError }
  /** The answers to `restore`: it is back; it could not be brought back now; its file is not what was written. */
  | { readonly type: "restored"; readonly block: BlockId }
  | { readonly type: "notRestored"; readonly block: BlockId; readonly error: WireError }
  | { readonly type: "damaged"; readonly block: BlockId; readonly error: WireError }
  /** What every process of the session has at this moment. */
  | {
      readonly type: "memory";
      readonly workers: readonly WorkerReading[];
      readonly supervisor: ProcessMemory;
      readonly program: ProcessMemory;
    }
  | ({ readonly type: "nodeMemory" } & NodeMemory)
  /** Time passed: sent when `alarmAt` is reached. */
  | { readonly type: "tick" };

/** Connecting and closing are the supervisor's own matter. */
export type TaskMessage = Exclude<WorkerMessage, { type: "ready" | "called" }>;
export type JobMessage = Exclude<ProgramMessage, { type: "hello" | "close" | "call" | "trim" }>;

/** Carried out in the order given. */
export type Command =
  | { readonly type: "toProgram"; readonly message: ToProgram }
  | { readonly type: "toWorker"; readonly worker: WorkerId; readonly message: ToWorker }
  /** Give these pages back to the system, before what follows. */
  | { readonly type: "punch"; readonly ranges: readonly ArenaRange[] }
  /** Write these blocks to disk, in one file. */
  | { readonly type: "spill"; readonly blocks: readonly SpillOrder[] }
  | { readonly type: "restore"; readonly block: RestoreOrder }
  /** Nobody needs what is there any more. */
  | { readonly type: "unspill"; readonly places: readonly SpillPlace[] }
  /** SIGTERM, and say so with `workerGone`. */
  | { readonly type: "terminate"; readonly worker: WorkerId }
  /** SIGKILL, to it and what it has started. */
  | { readonly type: "kill"; readonly worker: WorkerId; readonly reason: KillReason }
  /** For whoever watches. */
  | { readonly type: "event"; readonly event: SessionEvent }
  /** One worker more than the session has, for work that all the others wait for. */
  | { readonly type: "spawn"; readonly memory: Bytes | null }
  /** The process of the wide kernel. */
  | { readonly type: "spawnWide" }
  /** So many workers are kept alive from now on. */
  | { readonly type: "want"; readonly workers: number }
  /** An idle worker ends, and one with this memory limit takes its place. */
  | { readonly type: "replace"; readonly worker: WorkerId; readonly memory: Bytes }
  /** An idle worker that is no longer needed. */
  | { readonly type: "dismiss"; readonly worker: WorkerId }
  /** Tasks are about to write here: remember it, so that a later session can clean up after a crash. */
  | { readonly type: "stage"; readonly job: JobId; readonly sinks: readonly FileSink[] }
  | { readonly type: "commit"; readonly job: JobId; readonly outputs: readonly FileOutput[] }
  /** Remove what was staged. */
  | { readonly type: "discard"; readonly job: JobId; readonly sinks: readonly FileSink[] };

export interface FileOutput {
  readonly sink: FileSink;
  readonly files: readonly WrittenFile[];
}

/** A worker that has not answered a cancel within this time runs something that does not end, and is killed. */
export const CANCEL_GRACE: Milliseconds = 500;
/** The same for the wide kernel when its task stands back: what it is putting into a table takes a second, another process two. */
export const YIELD_GRACE: Milliseconds = 3_000;
/** Progress of one job is told this often at most. */
export const PROGRESS_INTERVAL: Milliseconds = 200;
/** How long all workers may be held back before one more is started for those who wait behind them. */
export const SLOT_GRACE: Milliseconds = 50;
/** How long a job may stand still for want of a worker while others work, and wait only for them. */
export const BESIDE_GRACE: Milliseconds = 250;
/** How long the program may keep what fills the store before a job that needs room gives up. */
export const STORE_GRACE: Milliseconds = 2_000;
/**
 * How long the program may go without a move while it reads another job's output, before nobody waits any longer for
 * it to give that back: it may itself wait for the job without room, or have forgotten what it reads.
 */
export const READING_GRACE: Milliseconds = 60_000;
/** How long everything may wait for room on disk before the job that needs it fails. */
export const DISK_GRACE: Milliseconds = 5_000;
/** How soon a disk that refused is tried again. */
export const DISK_RETRY: Milliseconds = 500;
