/**
 * One row for each way in which a worker can end or a task can be refused memory. Decisions and exit types are looked
 * up here; the words for users are in `src/scheduler/oom/`.
 */

export type ExitType =
  | "INTENDED_USER_EXIT"
  | "INTENDED_SYSTEM_EXIT"
  | "USER_ERROR"
  | "SYSTEM_ERROR"
  | "UNEXPECTED_SYSTEM_EXIT"
  | "NODE_OUT_OF_MEMORY";

interface End {
  readonly exitType: ExitType;
  /**
   * Whose memory was used up: the task is retried up to `maxOomRetries` times. Null: memory was not the cause, and
   * `maxRetries` applies.
   */
  readonly memoryOf: "machine" | "worker" | "kernel" | null;
  /** Whether the process has ended: a task that was refused memory leaves its worker alive. */
  readonly isDeath: boolean;
}

const OOM = "NODE_OUT_OF_MEMORY";

export const ENDS = {
  /** The system's OOM killer: the machine had no memory left. */
  systemOom: { exitType: OOM, memoryOf: "machine", isDeath: true },
  /** The system's OOM killer: its control group (container) was at its memory limit. */
  cgroupOom: { exitType: OOM, memoryOf: "machine", isDeath: true },
  /** The node's memory monitor. */
  monitor: { exitType: OOM, memoryOf: "machine", isDeath: true },
  /** The terminate threshold of the worker's limit. */
  terminate: { exitType: OOM, memoryOf: "worker", isDeath: true },
  /** V8's heap limit, or memory that was refused to V8 or to native code. */
  heap: { exitType: OOM, memoryOf: "worker", isDeath: true },
  /** A function was refused memory. */
  allocation: { exitType: OOM, memoryOf: "worker", isDeath: false },
  /** The kernel reached its own memory limit. */
  engineMemory: { exitType: OOM, memoryOf: "kernel", isDeath: false },
  /** A crash in native code. */
  native: { exitType: "UNEXPECTED_SYSTEM_EXIT", memoryOf: null, isDeath: true },
  /** A signal that the session did not send. */
  signal: { exitType: "UNEXPECTED_SYSTEM_EXIT", memoryOf: null, isDeath: true },
  /** `process.exit`. */
  exit: { exitType: "INTENDED_USER_EXIT", memoryOf: null, isDeath: true },
  /** Ended by the session, because it did not answer or was not needed. */
  asked: { exitType: "INTENDED_SYSTEM_EXIT", memoryOf: null, isDeath: true },
} as const satisfies Readonly<Record<string, End>>;

type Ends = typeof ENDS;

/** How a worker's process ended. */
export type DeathReason = { [K in keyof Ends]: Ends[K]["isDeath"] extends true ? K : never }[keyof Ends];

/** Reasons for which a task can lack memory. */
export type MemoryReason = { [K in keyof Ends]: Ends[K]["memoryOf"] extends null ? never : K }[keyof Ends];

/**
 * Why a task lacks memory: the end of its worker, or of the last worker that was started in vain. "pause": every worker
 * was above its pause threshold before its first task. "program": the program itself leaves too little for a worker.
 */
export type OutOfMemoryReason = DeathReason | MemoryReason | "pause" | "program";

export function isMemoryReason(reason: DeathReason | MemoryReason): reason is MemoryReason {
  return ENDS[reason].memoryOf !== null;
}
