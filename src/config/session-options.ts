/**
 * The options of a session, as users and their editors see them. The compiler checks that keys and types are the
 * schema's. `vitest run test/config/schema.test.ts -u` writes the schema's words into the comments.
 */
import type { WorkerDataOption } from "../worker-data/index.ts";
import type { Duration, Size } from "./kinds.ts";
import type { Preset, Schema } from "./schema.ts";
import type { Given } from "./setting.ts";

export interface SessionOptions {
  /**
   * Worker processes; each runs one task at a time. Default: the cores, or fewer where memory is too small for that
   * many.
   */
  readonly workers?: number;
  /**
   * Capacity of the store for blocks. When the store is full, producers wait, and blocks that nobody reads go to disk.
   * Default: 0.3.
   */
  readonly objectStoreMemory?: Size;
  /**
   * Memory limit of one worker; the thresholds are shares of it. "auto": the machine's memory times the worker's share
   * of the cores. A limit above the machine's memory is lowered to it. 0 or false: no thresholds, and V8's own heap
   * limit. Default: "auto".
   */
  readonly memoryLimit?: Size | "auto" | false;
  /**
   * Where the session's files go. Spilled blocks go to all the directories in turn. The first directory also holds the
   * socket, and the store if shared memory is too small for it. Default: the OS's temporary directory.
   */
  readonly localDirectory?: string | readonly string[];
  /**
   * Most bytes that spilled blocks may take on disk, in all directories together. Default: the free space of the
   * directories.
   */
  readonly maxSpill?: Size;
  /**
   * How spilled blocks are compressed. "zstd" needs Node 22.15. "auto": the best codec of this Node, for blocks of
   * which a sample shows that compression pays. Default: "none".
   */
  readonly spillCompression?: "none" | "lz4" | "zstd" | "auto";
  /** Thresholds of a worker's memory. */
  readonly worker?: WorkerOptions;
  /**
   * Which part of a worker's memory counts. "auto": process memory for the thresholds; process memory without recent
   * memory for choosing the worker of a task. "process": process memory for both. "managed": managed memory for both.
   * Default: "auto".
   */
  readonly measure?: "auto" | "process" | "managed";
  /**
   * When the machine uses more than this share of its memory, workers are ended before the system's OOM killer acts.
   * false: never. Default: 0.95.
   */
  readonly memoryUsageThreshold?: number | false;
  /** Milliseconds between two measurements of the machine's memory. 0: never measured. Default: 250. */
  readonly memoryMonitorRefreshMs?: number;
  /** How many times a task runs again after its worker died. Default: 3. */
  readonly maxRetries?: number;
  /** How many times a task runs again after it ran out of memory, each time with less at once. Default: 4. */
  readonly maxOomRetries?: number;
  /**
   * How many tasks of a job may fail with an error of your function before the job fails. The rows of these tasks are
   * missing. Default: 0.
   */
  readonly maxErroredBlocks?: number;
  /** Limits on what this session's tasks and store may take of the machine. */
  readonly resourceLimits?: ResourceLimits;
  /**
   * Largest size of a block; only a single row may be larger. Lowered in a small store. false: all rows of a task
   * become one block. Default: "128 MiB", or the size of the `preset`.
   */
  readonly targetMaxBlockSize?: Size | false;
  /**
   * Neighbouring blocks of a task that are smaller are put together. false: each batch becomes a block. Default: "1
   * MiB", or the size of the `preset`.
   */
  readonly targetMinBlockSize?: Size | false;
  /**
   * `targetMaxBlockSize` for the blocks between the two halves of a shuffle; at most a quarter of the largest block
   * that the store allows. Default: "512 MiB", or the size of the `preset`.
   */
  readonly targetShuffleMaxBlockSize?: Size;
  /** Block sizes for a kind of work. A size that you set yourself wins over the preset's. Default: none. */
  readonly preset?: Preset;
  /** Run each operator as soon as it is added, and keep its result. For exploring data. Default: false. */
  readonly eager?: boolean;
  /** Give results in the order of the input. This costs time: later blocks wait for earlier ones. Default: false. */
  readonly preserveOrder?: boolean;
  /**
   * Cut the rows of sorts, groups, joins and shuffles into partitions, one worker for each, as a cluster does. On one
   * machine, one kernel with all threads is faster. Default: false.
   */
  readonly exchange?: boolean;
  /**
   * Run a task in the worker that made its input, if possible: the input may still be in its caches. Default: false.
   */
  readonly localityWithOutput?: boolean;
  /**
   * Agree with your other sessions on the machine, or in its container, on what each may use of the memory. false: plan
   * with all of it, whoever else is there. Default: true.
   */
  readonly shareNode?: boolean;
  /** Show the progress of jobs on stderr. Default: true. */
  readonly progress?: boolean;
  /**
   * A page that shows the session live, on 127.0.0.1. true: on port 8787. A number: on this port. If the port is taken,
   * the next free one is used. Default: true.
   */
  readonly dashboard?: boolean | number;
  /**
   * Most bytes of the session's event file. Beyond it, old events of tasks and blocks are kept as totals. Default: "64
   * MiB".
   */
  readonly eventFileLimit?: Size;
  /** Memory allocator of the workers' native code. Default: "system". */
  readonly allocator?: "system" | "jemalloc";
  /**
   * A worker's allocator returns free memory at the top of the native heap to the system when there is more than this.
   * false: the allocator's own threshold. Default: false.
   */
  readonly mallocTrimThreshold?: Size | false;
  /**
   * Worker data: a Map, an object with a Map's methods, or a function that makes one. Each worker gets its own, and its
   * entries count as managed memory. Default: none.
   */
  readonly data?: WorkerDataOption;
  /** Environment variables of the workers. Default: {}. */
  readonly workerEnv?: Readonly<Record<string, string>>;
  /** Node options of the workers, such as `--inspect`. Default: []. */
  readonly workerExecArgv?: readonly string[];
}

export interface WorkerOptions {
  readonly memory?: {
    /**
     * When the worker's managed memory is above this share of `memoryLimit`, its least recently used blocks go to disk.
     * Default: 0.6.
     */
    readonly target?: number | false;
    /**
     * When the worker's process memory is above this share of `memoryLimit`, its blocks go to disk until it is below
     * `target`. Default: 0.7.
     */
    readonly spill?: number | false;
    /**
     * When the worker's process memory is above this share of `memoryLimit`, the worker starts no tasks until it is
     * 0.05 below. Default: 0.8.
     */
    readonly pause?: number | false;
    /**
     * When the worker's process memory is above this share of `memoryLimit`, its process is ended and its task runs
     * again. Default: 0.95.
     */
    readonly terminate?: number | false;
    /** How long unmanaged memory counts as recent; after that it counts as old. Default: "30s". */
    readonly recentToOldTime?: Duration;
    /** How often workers are measured. Default: "200ms". */
    readonly monitorInterval?: Duration;
    /**
     * When a worker has been paused this long and has nothing left to spill, a warning names the cause. Default: "30s".
     */
    readonly pausedTooLong?: Duration;
  };
}

export interface ResourceLimits {
  /** Cores that running tasks may have together. Default: as many as there are workers. */
  readonly cpu?: number | string;
  /**
   * GPUs that running tasks may have together. Default: those that the machine shows, or those of CUDA_VISIBLE_DEVICES
   * if it is set.
   */
  readonly gpu?: number;
  /** Memory that running tasks may ask for together. Default: the machine's memory. */
  readonly memory?: Size;
  /** Upper limit of the store's capacity. Default: `objectStoreMemory` alone is the limit. */
  readonly objectStoreMemory?: Size;
}

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** An error here means that a key or a type of the schema is missing above, or the other way round. */
export const optionsAreTheSchemas: Same<SessionOptions, Given<Schema>> = true;
