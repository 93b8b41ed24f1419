/** The scheduler's events and commands: its only contact with the world. Plain data. */

import type { WireError } from "../../errors/index.ts";
import type {
  ArenaRange,
  BlockId,
  Bytes,
  DeathReason,
  FileSink,
  JobId,
  JobNews,
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
  /** OOM kills since the worker began: in its control group, and on the machine. */
  readonly oomKills: { readonly container: number; readonly machine: number };
  /** Null if not measured. */
  readonly node: NodeSnapshot | null;
  /** It was ended because it could not be reached: it never connected, or its connection was closed. */
  readonly connection?: "never" | "broken";
}

/** What was measured when a task ran out of memory and its process lives on. */
export interface Scene {
  readonly node: NodeSnapshot;
  /** Where its worker's log is. */
  readonly log: string;
}

export type Event =
  /** Workers may be started from now on. */
  | { readonly type: "open" }
  /** The answer to `spawn`, `spawnWide` and `replace`. `memory`: its limit, where it is not the session's. */
  | { readonly type: "workerStarting"; readonly worker: WorkerId; readonly memory?: Bytes; readonly isWide?: boolean }
  | { readonly type: "workerReady"; readonly worker: WorkerId; readonly pid: number }
  /** The worker's process has ended, and all its messages have been handled. */
  | { readonly type: "workerGone"; readonly worker: WorkerId; readonly end: WorkerEnd }
  /** No worker can be let in: jobs that wait for a worker fail, and so do later ones. */
  | { readonly type: "workersUnavailable"; readonly error: WireError }
  /** The program has a request for all workers. If no worker is left, one is started for it. */
  | { readonly type: "workersAsked" }
  /** `oomKill`: a function failed just after an OOM kill, which may have hit a child process of its worker. */
  | {
      readonly type: "fromWorker";
      readonly worker: WorkerId;
      readonly message: TaskMessage;
      readonly oomKill?: Extract<DeathReason, "systemOom" | "cgroupOom">;
      readonly scene?: Scene;
    }
  | { readonly type: "fromProgram"; readonly message: JobMessage }
  /** The answer to `measure`: the readings were sent before this. */
  | { readonly type: "measured"; readonly request: number }
  /** The answer to `commit`: the files are in place, or none is. */
  | { readonly type: "committed"; readonly job: JobId; readonly error: WireError | null }
  /** The answer to `discard`. */
  | { readonly type: "discarded"; readonly job: JobId }
  /** The answers to `spill`: all blocks of it are on disk, or none is. */
  | { readonly type: "spilled"; readonly blocks: readonly { readonly id: BlockId; readonly place: SpillPlace }[] }
  | { readonly type: "notSpilled"; readonly blocks: readonly BlockId[]; readonly error: WireError }
  /** The answers to `restore`: the block is back; it could not be read now; its file is damaged. */
  | { readonly type: "restored"; readonly block: BlockId }
  | { readonly type: "notRestored"; readonly block: BlockId; readonly error: WireError }
  | { readonly type: "damaged"; readonly block: BlockId; readonly error: WireError }
  /** The memory of every process of the session at this moment. */
  | {
      readonly type: "memory";
      readonly workers: readonly WorkerReading[];
      readonly supervisor: ProcessMemory;
      readonly program: ProcessMemory;
      /** What the node used at the same moment; null: nobody watches the node. */
      readonly used: Bytes | null;
    }
  /** `mayEnd`: false while another session on the node ends a worker, or has the right one to end. */
  | ({ readonly type: "nodeMemory"; readonly mayEnd?: boolean } & NodeMemory)
  /** The program has grown and waits; the node was measured just now. Answered with `roomMade`. */
  | { readonly type: "programHolds"; readonly request: number; readonly bytes: Bytes; readonly node: NodeMemory }
  /** What other sessions on the node leave for this one, and how many sessions there are with it. */
  | { readonly type: "nodeShare"; readonly memory: Bytes; readonly sessions: number }
  /** Time passed: sent when `alarmAt` is reached. */
  | { readonly type: "tick" };

/** The supervisor handles connecting and closing itself. */
export type TaskMessage = Exclude<WorkerMessage, { type: "ready" | "called" | "notProfiled" }>;
export type JobMessage = Exclude<ProgramMessage, { type: "hello" | "close" | "call" | "trim" | "holds" }>;

/** Carried out in the order given. */
export type Command =
  | { readonly type: "toProgram"; readonly message: ToProgram }
  /** The program is told how a job goes on, with the figures that the events before this command come to. */
  | { readonly type: "jobNews"; readonly news: JobNews; readonly at: Milliseconds }
  | { readonly type: "toWorker"; readonly worker: WorkerId; readonly message: ToWorker }
  /** Give these pages back to the system, before the commands that follow. */
  | { readonly type: "punch"; readonly ranges: readonly ArenaRange[] }
  /** Write these blocks to disk, in one file. */
  | { readonly type: "spill"; readonly blocks: readonly SpillOrder[] }
  | { readonly type: "restore"; readonly block: RestoreOrder }
  /** What is on disk there is no longer needed. */
  | { readonly type: "unspill"; readonly places: readonly SpillPlace[] }
  /** SIGTERM; `workerGone` follows. */
  | { readonly type: "terminate"; readonly worker: WorkerId }
  /** SIGKILL to the worker and the processes that it has started. */
  | { readonly type: "kill"; readonly worker: WorkerId; readonly reason: KillReason }
  /** An event for listeners. */
  | { readonly type: "event"; readonly event: SessionEvent }
  /** Limits of workers that start from now on, and of the allocations of all. */
  | { readonly type: "workerLimits"; readonly limit: Bytes | null; readonly heap: Bytes | null }
  /** Measure the memory of every process and of the node now. */
  | { readonly type: "measure"; readonly request: number }
  /** Start a worker. `memory`: its limit, where it is not the session's. */
  | { readonly type: "spawn"; readonly memory: Bytes | null }
  /** The process of the wide kernel. */
  | { readonly type: "spawnWide" }
  /** End an idle worker, and start one with this memory limit in its place. */
  | { readonly type: "replace"; readonly worker: WorkerId; readonly memory: Bytes }
  /** No worker is started any more: what waits for one gets this error. */
  | { readonly type: "unavailable"; readonly error: WireError }
  /** End an idle worker that is no longer needed. */
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
/**
 * How long the wide kernel may take to answer a cancel when its task stands back. Finishing its current table insert
 * takes a second; starting another process takes two.
 */
export const YIELD_GRACE: Milliseconds = 3_000;
/** Progress of one job is told this often at most. */
export const PROGRESS_INTERVAL: Milliseconds = 200;
/** Progress of a job in which nothing happens is told this often at most. */
export const QUIET_PROGRESS_INTERVAL: Milliseconds = 1_000;
/** How long all workers may be held back before one more is started for the tasks behind them. */
export const SLOT_GRACE: Milliseconds = 50;
/** How long a job without a worker waits for the workers of other jobs. */
export const BESIDE_GRACE: Milliseconds = 250;
/** How long the program may keep what fills the store before a job that needs room gives up. */
export const STORE_GRACE: Milliseconds = 2_000;
/**
 * How long the program may be inactive while it reads a job's output. After that, other jobs no longer wait for it to
 * give the output back: the program may itself wait for a job without room, or have forgotten what it reads.
 */
export const READING_GRACE: Milliseconds = 60_000;
/** How long everything may wait for room on disk before the job that needs it fails. */
export const DISK_GRACE: Milliseconds = 5_000;
/** How soon a disk that refused is tried again. */
export const DISK_RETRY: Milliseconds = 500;
