/**
 * Every setting of a session: the one list from which the defaults, the file, the variables, the options of the command
 * line and the docs table come. `SessionOptions` is checked against it by the compiler, its comments by a test.
 */
import { mayBeContainer } from "../container/index.ts";
import {
  bytesOrFalse,
  choice,
  cores,
  duration,
  flag,
  fractionOrFalse,
  inCode,
  interval,
  memoryLimit,
  paths,
  size,
  sizeOrFalse,
  textByName,
  texts,
  wholeNumber,
} from "./kinds.ts";
import { optional, setting, type Values } from "./setting.ts";

const PRESETS = ["etl", "image", "analytics", "memoryConstrained", "shuffleHeavy"] as const;

/** Each has a name: a number with zeros too many would fill the memory with names. */
const MOST_GPUS = 1024;

const container = inCode("object or function", "an object or a function", (value) =>
  mayBeContainer(value) ? value : undefined,
);

export const SCHEMA = {
  workers: optional(
    wholeNumber(1),
    "the cores, or fewer where memory is too small for that many",
    "Worker processes; each runs one task at a time.",
  ),
  objectStoreMemory: setting(
    size,
    0.3,
    "The store's capacity for blocks. When it is full, producers wait, and what is kept goes to disk.",
  ),
  memoryLimit: setting(
    memoryLimit,
    "auto",
    "Memory of one worker, of which the thresholds are shares. \"auto\": the machine's by the worker's share of its cores. More than the machine has is lowered to it. None: no thresholds, and V8's own heap limit.",
  ),
  localDirectory: optional(
    paths,
    "the OS's temporary directory",
    "Where the session's files go: spilled blocks, in all of several directories in turn; in the first the socket, and the store where shared memory is small.",
  ),
  maxSpill: optional(
    size,
    "as much as there is room",
    "The most bytes of spilled blocks on disk, over all directories.",
  ),
  spillCompression: setting(
    choice("none", "lz4", "zstd", "auto"),
    "none",
    'How spilled blocks are compressed. "zstd" needs Node 22.15; "auto": the best there is, where a sample of the block says that it pays.',
  ),
  worker: {
    memory: {
      target: setting(
        fractionOrFalse,
        0.6,
        "Share of `memoryLimit` in managed memory above which the worker's least recently used blocks go to disk.",
      ),
      spill: setting(
        fractionOrFalse,
        0.7,
        "Share of `memoryLimit` in process memory above which its blocks go to disk until it is below `target`.",
      ),
      pause: setting(
        fractionOrFalse,
        0.8,
        "Share of `memoryLimit` in process memory above which no task starts on it; it goes on 0.05 below.",
      ),
      terminate: setting(
        fractionOrFalse,
        0.95,
        "Share of `memoryLimit` in process memory above which its process is ended and its task tried again.",
      ),
      recentToOldTime: setting(
        duration,
        "30s",
        "Unmanaged memory counts as recent until it has been there for so long.",
      ),
      monitorInterval: setting(interval, "200ms", "How often workers are measured."),
      pausedTooLong: setting(
        duration,
        "30s",
        "A worker that is paused for so long with nothing left to spill is reported with its cause.",
      ),
    },
  },
  measure: setting(
    choice("auto", "process", "managed"),
    "auto",
    'What of a worker\'s memory counts. "auto": process memory in thresholds, recent memory not in placement; "process": recent memory there, too; "managed": nothing but managed memory anywhere.',
  ),
  memoryUsageThreshold: setting(
    fractionOrFalse,
    0.95,
    "Share of the machine's memory above which workers are ended before the system does it; false: never.",
  ),
  memoryMonitorRefreshMs: setting(
    wholeNumber(0, "milliseconds"),
    250,
    "How often the machine's memory is looked at; 0: never.",
  ),
  maxRetries: setting(wholeNumber(0), 3, "How often a task is tried again after its worker died."),
  maxOomRetries: setting(
    wholeNumber(0),
    4,
    "How often a task is tried again, each time asking for less, after it ran out of memory.",
  ),
  maxErroredBlocks: setting(
    wholeNumber(0),
    0,
    "Tasks that may fail by the user's own error before a job does; their rows are missing.",
  ),
  resourceLimits: {
    cpu: optional(cores, "as many as there are workers", "Cores that tasks may have at once."),
    gpu: optional(
      wholeNumber(0, "GPUs", MOST_GPUS),
      "those that the machine shows, or CUDA_VISIBLE_DEVICES where it is set",
      "GPUs that tasks may have at once.",
    ),
    memory: optional(size, "the machine's", "Memory that tasks may ask for in all."),
    objectStoreMemory: optional(size, "no limit beside `objectStoreMemory`", "The store is no larger than this."),
  },
  targetMaxBlockSize: optional(
    sizeOrFalse,
    '"128 MiB", or what `preset` says',
    "No block is larger, unless it is one row; less in a small store. False: a task's rows are one block.",
  ),
  targetMinBlockSize: optional(
    sizeOrFalse,
    '"1 MiB", or what `preset` says',
    "Smaller neighbours within a task are put together. False: batches become blocks as they are.",
  ),
  targetShuffleMaxBlockSize: optional(
    size,
    '"512 MiB", or what `preset` says',
    "The same as `targetMaxBlockSize` for blocks between the halves of a shuffle; at most a quarter of what a block may have.",
  ),
  preset: optional(
    choice(...PRESETS),
    "none",
    "Block sizes for a kind of work; those that are given one by one come first.",
  ),
  eager: setting(flag, false, "Run each operator as it is added and keep its result, for exploring."),
  preserveOrder: setting(flag, false, "Results in the order of the input; waiting for the order costs time."),
  exchange: setting(
    flag,
    false,
    "Sort, group, join and shuffle by partitions of the rows, each in a worker, as a cluster does. On one machine one kernel with all threads is faster.",
  ),
  localityWithOutput: setting(flag, false, "Prefer for a task the worker that made its input, whose caches have it."),
  progress: setting(flag, true, "Show on stderr how a job goes on."),
  eventFileLimit: setting(
    size,
    "64 MiB",
    "The most bytes of the session's event file. Beyond it, old events of tasks and blocks are kept as totals.",
  ),
  allocator: setting(choice("system", "jemalloc"), "system", "What gives the workers' native code its memory."),
  mallocTrimThreshold: setting(
    bytesOrFalse,
    false,
    "Free memory at the top of a worker's native heap above which it goes back to the system; false: the allocator's own.",
  ),
  data: optional(
    container,
    "none",
    "A container of your own for managed memory, in each worker: one that is like a Map, or what makes one.",
  ),
  workerEnv: setting(textByName, {}, "Environment variables of the workers."),
  workerExecArgv: setting(texts, [], "Node options of the workers, such as `--inspect`."),
};

export type Schema = typeof SCHEMA;
export type Settings = Values<Schema>;
export type Preset = (typeof PRESETS)[number];
