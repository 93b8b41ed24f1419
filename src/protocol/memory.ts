/**
 * Memory as it is measured, bounded, learned and told: plain data that every process of a session speaks of in the same
 * words. How it is measured is in src/memory, what follows from it is the scheduler's.
 */
import type { Bytes, Milliseconds, WorkerId } from "./job.ts";

export type { DeathReason } from "../errors/index.ts";

/** A process with its children: what is its own (RSS − SHR), and what of it is shared with others. */
export interface ProcessMemory {
  readonly private: Bytes;
  readonly shared: Bytes;
  /** How many of its descendants are in these figures. */
  readonly children: number;
}

export interface WorkerReading extends ProcessMemory {
  readonly worker: WorkerId;
}

/** A worker's JavaScript heap, garbage that was not collected yet included, and V8's limit of it. */
export interface HeapUse {
  readonly used: Bytes;
  readonly limit: Bytes;
}

/**
 * The machine, or the control group that is smaller. Page cache is no use: the system takes it back when it is needed.
 */
export interface NodeMemory {
  readonly used: Bytes;
  readonly total: Bytes;
}

/** managed + unmanaged + recent = process, always. */
export interface MemoryKinds {
  /** Private memory, and the blocks in memory that the worker is answerable for. */
  readonly process: Bytes;
  /** These blocks, its kernel's buffers, what its container holds. */
  readonly managed: Bytes;
  /** The rest, as far as it has been there for `recentToOldTime`. */
  readonly unmanaged: Bytes;
  readonly recent: Bytes;
  /** Bytes on disk, after compression; beside process. */
  readonly spilled: Bytes;
}

/** Blue: normal; orange: may be spilling; red: paused or retiring; grey: spilled. */
export type MemoryColour = "blue" | "orange" | "red" | "grey";

/** Steps of the ladder on which a worker can stand. */
export type Pressure = "normal" | "spilling" | "paused" | "terminating";

export interface WorkerMemory extends MemoryKinds {
  readonly id: WorkerId;
  readonly pid: number | null;
  readonly kind: "worker" | "wide";
  /** Null: none. */
  readonly limit: Bytes | null;
  readonly pressure: Pressure;
  readonly colour: MemoryColour;
  readonly task: string | null;
}

/** What `session.memory()` tells. */
export interface SessionMemory {
  readonly node: NodeMemory & { readonly threshold: number | null };
  readonly program: ProcessMemory;
  readonly supervisor: ProcessMemory;
  readonly store: { readonly capacity: Bytes; readonly resident: Bytes; readonly spilled: Bytes };
  readonly workers: readonly WorkerMemory[];
}

/** Shares of a worker's limit; false: there is no such step. */
export interface Thresholds {
  /** Of managed memory: the least recently used blocks go to disk. */
  readonly target: number | false;
  /** Of process memory: blocks go to disk until it is below `target`. */
  readonly spill: number | false;
  /** No task starts. */
  readonly pause: number | false;
  /** The process ends. */
  readonly terminate: number | false;
}

export interface MemorySettings {
  readonly thresholds: Thresholds;
  /** How often workers are looked at. */
  readonly interval: Milliseconds;
  /**
   * "auto": thresholds go by process memory, placement by managed and old unmanaged memory; "process": recent memory
   * counts in placement, too; "managed": nothing but managed memory counts.
   */
  readonly measure: "auto" | "process" | "managed";
  readonly recentToOldTime: Milliseconds;
  /** A worker that is paused for so long with nothing left to spill is reported. */
  readonly pausedTooLong: Milliseconds;
  /** Share of the node's memory above which the node's monitor ends workers. */
  readonly memoryUsageThreshold: number;
  /** 0: there is no monitor. */
  readonly memoryMonitorRefreshMs: Milliseconds;
}

/** What tasks of an operator were found to need by running out of memory, and what those after them have therefore. */
export interface LearnedNeed {
  /** Rows of a call of its function; null: as the operator says. */
  readonly batchSize: number | null;
  /** Tasks of it at once; null: as many as there are workers for. */
  readonly atOnce: number | null;
  /** While a task of it computes, no other task of the session does, and its worker has nearly all the memory. */
  readonly alone: boolean;
  /**
   * What a task of it needs: the most that one was seen to have when it failed, or more than the limit that it failed
   * at.
   */
  readonly memory: Bytes | null;
}

/** Why a worker is ended from here. "unresponsive": it has not answered a cancel. */
export type KillReason = "monitor" | "terminate" | "unresponsive";

export interface MemoryUser {
  readonly pid: number;
  /** "worker 3 (map(addTax))", "program", "supervisor", or a command of others. */
  readonly name: string;
  readonly private: Bytes;
}

/** The node at the moment at which a worker was ended, or was found dead. */
export interface NodeSnapshot extends NodeMemory {
  readonly host: string;
  /** Share above which the monitor ends workers; null: there is none. */
  readonly threshold: number | null;
  /** The ten that use the most. */
  readonly users: readonly MemoryUser[];
}
