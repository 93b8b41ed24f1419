/**
 * Memory as it is measured, limited, learned and reported: plain data that every process of a session uses. src/memory
 * measures it; the scheduler decides what follows.
 */
import type { Bytes, Milliseconds, WorkerId } from "./job.ts";

export type { DeathReason } from "../errors/index.ts";

/** A process with its children: private memory (RSS − SHR), and the part that is shared with others. */
export interface ProcessMemory {
  readonly private: Bytes;
  readonly shared: Bytes;
  /** How many descendants are included. */
  readonly children: number;
}

export interface WorkerReading extends ProcessMemory {
  readonly worker: WorkerId;
}

/** A worker's JavaScript heap, including garbage that was not collected yet, and V8's limit. */
export interface HeapUse {
  readonly used: Bytes;
  readonly limit: Bytes;
}

/**
 * The machine, or a control group if its limit is smaller. Page cache does not count as used: the system takes it back
 * when needed.
 */
export interface NodeMemory {
  readonly used: Bytes;
  readonly total: Bytes;
}

/** Whom the node's monitor would end next. */
export interface Victim {
  /** 0: it costs a restart; 1: a retry; 2: a task's last chance. */
  readonly cost: number;
  /** When its task began. */
  readonly since: Milliseconds;
  readonly private: Bytes;
}

/** managed + unmanaged + recent = process, always. */
export interface MemoryKinds {
  /** Private memory, and the blocks in memory that the worker is answerable for. */
  readonly process: Bytes;
  /** These blocks, its kernel's buffers, and its worker data. */
  readonly managed: Bytes;
  /** The rest, as far as it has existed for `recentToOldTime`. */
  readonly unmanaged: Bytes;
  readonly recent: Bytes;
  /** Bytes on disk, after compression; not part of `process`. */
  readonly spilled: Bytes;
}

/** Blue: normal; orange: may be spilling; red: paused or retiring; grey: spilled. */
export type MemoryColour = "blue" | "orange" | "red" | "grey";

/** The steps of the ladder that a worker can be on. */
export type Pressure = "normal" | "spilling" | "paused" | "terminating";

export interface WorkerMemory extends MemoryKinds {
  readonly id: WorkerId;
  readonly pid: number | null;
  readonly kind: "worker" | "wide";
  /** Null: no limit. */
  readonly limit: Bytes | null;
  readonly pressure: Pressure;
  readonly colour: MemoryColour;
  readonly task: string | null;
}

/** The result of `session.memory()`. */
export interface SessionMemory {
  readonly node: NodeMemory & { readonly threshold: number | null };
  readonly program: ProcessMemory;
  readonly supervisor: ProcessMemory;
  readonly store: { readonly capacity: Bytes; readonly resident: Bytes; readonly spilled: Bytes };
  readonly workers: readonly WorkerMemory[];
}

/** Shares of a worker's limit; false: there is no such step. */
export interface Thresholds {
  /** Share of managed memory above which the least recently used blocks are spilled. */
  readonly target: number | false;
  /** Share of process memory above which blocks are spilled until it is below `target`. */
  readonly spill: number | false;
  /** Above this share, no task starts in the worker. */
  readonly pause: number | false;
  /** Above this share, the worker's process is ended. */
  readonly terminate: number | false;
}

export interface MemorySettings {
  readonly thresholds: Thresholds;
  /** How often workers are measured. */
  readonly interval: Milliseconds;
  /**
   * "auto": thresholds use process memory, placement uses managed and old unmanaged memory. "process": recent memory
   * counts in placement, too. "managed": only managed memory counts.
   */
  readonly measure: "auto" | "process" | "managed";
  readonly recentToOldTime: Milliseconds;
  /** A worker that is paused for this long with nothing left to spill is reported. */
  readonly pausedTooLong: Milliseconds;
  /** The share of the node's memory above which the node's monitor ends workers. */
  readonly memoryUsageThreshold: number;
  /** 0: there is no monitor. */
  readonly memoryMonitorRefreshMs: Milliseconds;
}

/**
 * What the tasks of an operator were found to need when they ran out of memory, and what later tasks get because of it.
 */
export interface LearnedNeed {
  /** Rows in a call of its function; null: as the operator says. */
  readonly batchSize: number | null;
  /** How many of its tasks run at once; null: as many as there are workers. */
  readonly atOnce: number | null;
  /** While one of its tasks computes, no other task of the session does, and its worker has nearly all the memory. */
  readonly alone: boolean;
  /**
   * What one of its tasks needs: the most that a task had when it failed, or more than the limit at which it failed.
   */
  readonly memory: Bytes | null;
}

/** What a task of an operator is expected to take: memory that it adds to what its worker has without it. */
export interface Appetite {
  /** The most of what the last tasks took, and a margin. */
  readonly bytes: Bytes;
  /** What shows it: a task that has not ended; tasks that have; an earlier run. */
  readonly from: "batch" | "tasks" | "earlier";
}

/**
 * Why the session ends a worker. "unresponsive": it has not answered a cancel; "neverConnected": it has not connected
 * in time.
 */
export type KillReason = "monitor" | "terminate" | "unresponsive" | "neverConnected";

export interface MemoryUser {
  readonly pid: number;
  /** "worker 3 (map(addTax))", "program", "supervisor", or the command of another process. */
  readonly name: string;
  readonly private: Bytes;
}

/** The node at the moment when a worker was ended, or found dead. */
export interface NodeSnapshot extends NodeMemory {
  readonly host: string;
  /** The share above which the monitor ends workers; null: there is no monitor. */
  readonly threshold: number | null;
  /** The ten processes that use the most. */
  readonly users: readonly MemoryUser[];
}
