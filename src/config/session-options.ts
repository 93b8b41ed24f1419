/**
 * What a program can tell a session, as users and their editors see it. The same keys and types as the schema has, or
 * this does not compile. The comments are the schema's words: `vitest run test/config/schema.test.ts -u` writes them.
 */
import type { ContainerOption } from "../container/index.ts";
import type { Duration, Size } from "./kinds.ts";
import type { Preset, Schema } from "./schema.ts";
import type { Given } from "./setting.ts";

export interface SessionOptions {
  /**
   * Worker processes; each runs one task at a time. Default: the cores, or fewer where memory is too small for that
   * many.
   */
  readonly workers?: number;
  /** The store's capacity for blocks. When it is full, producers wait, and what is kept goes to disk. Default: 0.3. */
  readonly objectStoreMemory?: Size;
  /**
   * Memory of one worker, of which the thresholds are shares. "auto": the machine's by the worker's share of its cores.
   * More than the machine has is lowered to it. None: no thresholds, and V8's own heap limit. Default: "auto".
   */
  readonly memoryLimit?: Size | "auto" | false;
  /**
   * Where the session's files go: spilled blocks, in all of several directories in turn; in the first the socket, and
   * the store where shared memory is small. Default: the OS's temporary directory.
   */
  readonly localDirectory?: string | readonly string[];
  /** The most bytes of spilled blocks on disk, over all directories. Default: as much as there is room. */
  readonly maxSpill?: Size;
  /**
   * How spilled blocks are compressed. "zstd" needs Node 22.15; "auto": the best there is, where a sample of the block
   * says that it pays. Default: "none".
   */
  readonly spillCompression?: "none" | "lz4" | "zstd" | "auto";
  /** When a worker's memory is too full. */
  readonly worker?: WorkerOptions;
  /**
   * What of a worker's memory counts. "auto": process memory in thresholds, recent memory not in placement; "process":
   * recent memory there, too; "managed": nothing but managed memory anywhere. Default: "auto".
   */
  readonly measure?: "auto" | "process" | "managed";
  /**
   * Share of the machine's memory above which workers are ended before the system does it; false: never. Default: 0.95.
   */
  readonly memoryUsageThreshold?: number | false;
  /** How often the machine's memory is looked at; 0: never. Default: 250. */
  readonly memoryMonitorRefreshMs?: number;
  /** How often a task is tried again after its worker died. Default: 3. */
  readonly maxRetries?: number;
  /** How often a task is tried again, each time asking for less, after it ran out of memory. Default: 4. */
  readonly maxOomRetries?: number;
  /** Tasks that may fail by the user's own error before a job does; their rows are missing. Default: 0. */
  readonly maxErroredBlocks?: number;
  /** The most that this session's tasks and store may have of the machine. */
  readonly resourceLimits?: ResourceLimits;
  /**
   * No block is larger, unless it is one row; less in a small store. False: a task's rows are one block. Default: "128
   * MiB", or what `preset` says.
   */
  readonly targetMaxBlockSize?: Size | false;
  /**
   * Smaller neighbours within a task are put together. False: batches become blocks as they are. Default: "1 MiB", or
   * what `preset` says.
   */
  readonly targetMinBlockSize?: Size | false;
  /**
   * The same as `targetMaxBlockSize` for blocks between the halves of a shuffle; at most a quarter of what a block may
   * have. Default: "512 MiB", or what `preset` says.
   */
  readonly targetShuffleMaxBlockSize?: Size;
  /** Block sizes for a kind of work; those that are given one by one come first. Default: none. */
  readonly preset?: Preset;
  /** Run each operator as it is added and keep its result, for exploring. Default: false. */
  readonly eager?: boolean;
  /** Results in the order of the input; waiting for the order costs time. Default: false. */
  readonly preserveOrder?: boolean;
  /**
   * Sort, group, join and shuffle by partitions of the rows, each in a worker, as a cluster does. On one machine one
   * kernel with all threads is faster. Default: false.
   */
  readonly exchange?: boolean;
  /** Prefer for a task the worker that made its input, whose caches have it. Default: false. */
  readonly localityWithOutput?: boolean;
  /** Show on stderr how a job goes on. Default: true. */
  readonly progress?: boolean;
  /**
   * The most bytes of the session's event file. Beyond it, old events of tasks and blocks are kept as totals. Default:
   * "64 MiB".
   */
  readonly eventFileLimit?: Size;
  /** What gives the workers' native code its memory. Default: "system". */
  readonly allocator?: "system" | "jemalloc";
  /**
   * Free memory at the top of a worker's native heap above which it goes back to the system; false: the allocator's
   * own. Default: false.
   */
  readonly mallocTrimThreshold?: Size | false;
  /**
   * A container of your own for managed memory, in each worker: one that is like a Map, or what makes one. Default:
   * none.
   */
  readonly data?: ContainerOption;
  /** Environment variables of the workers. Default: {}. */
  readonly workerEnv?: Readonly<Record<string, string>>;
  /** Node options of the workers, such as `--inspect`. Default: []. */
  readonly workerExecArgv?: readonly string[];
}

export interface WorkerOptions {
  readonly memory?: {
    /**
     * Share of `memoryLimit` in managed memory above which the worker's least recently used blocks go to disk. Default:
     * 0.6.
     */
    readonly target?: number | false;
    /**
     * Share of `memoryLimit` in process memory above which its blocks go to disk until it is below `target`. Default:
     * 0.7.
     */
    readonly spill?: number | false;
    /**
     * Share of `memoryLimit` in process memory above which no task starts on it; it goes on 0.05 below. Default: 0.8.
     */
    readonly pause?: number | false;
    /**
     * Share of `memoryLimit` in process memory above which its process is ended and its task tried again. Default:
     * 0.95.
     */
    readonly terminate?: number | false;
    /** Unmanaged memory counts as recent until it has been there for so long. Default: "30s". */
    readonly recentToOldTime?: Duration;
    /** How often workers are measured. Default: "200ms". */
    readonly monitorInterval?: Duration;
    /** A worker that is paused for so long with nothing left to spill is reported with its cause. Default: "30s". */
    readonly pausedTooLong?: Duration;
  };
}

export interface ResourceLimits {
  /** Cores that tasks may have at once. Default: as many as there are workers. */
  readonly cpu?: number | string;
  /**
   * GPUs that tasks may have at once. Default: those that the machine shows, or CUDA_VISIBLE_DEVICES where it is set.
   */
  readonly gpu?: number;
  /** Memory that tasks may ask for in all. Default: the machine's. */
  readonly memory?: Size;
  /** The store is no larger than this. Default: no limit beside `objectStoreMemory`. */
  readonly objectStoreMemory?: Size;
}

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Wrong here means: a key or a type is in the schema and not above, or the other way round. */
export const optionsAreTheSchemas: Same<SessionOptions, Given<Schema>> = true;
