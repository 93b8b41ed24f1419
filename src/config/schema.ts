/**
 * Every setting of a session. The defaults, the file, the variables, the options of the command line and the table in
 * the docs come from this one list. The compiler checks `SessionOptions` against it, and a test checks the comments
 * there.
 */
import { mayBeWorkerData } from "../worker-data/index.ts";
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
  portOrFlag,
  size,
  sizeOrFalse,
  textByName,
  texts,
  wholeNumber,
} from "./kinds.ts";
import { optional, setting, type Values } from "./setting.ts";

const PRESETS = ["etl", "image", "analytics", "memoryConstrained", "shuffleHeavy"] as const;

/**
 * A bound against typing errors: each GPU gets a name, and a number with zeros too many would fill the memory with
 * names.
 */
const MOST_GPUS = 1024;

const workerData = inCode("object or function", "an object or a function", (value) =>
  mayBeWorkerData(value) ? value : undefined,
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
    "Capacity of the store for blocks. When the store is full, producers wait, and blocks that nobody reads go to disk.",
  ),
  memoryLimit: setting(
    memoryLimit,
    "auto",
    "Memory limit of one worker; the thresholds are shares of it. \"auto\": the machine's memory times the worker's share of the cores. A limit above the machine's memory is lowered to it. 0 or false: no thresholds, and V8's own heap limit.",
  ),
  localDirectory: optional(
    paths,
    "the OS's temporary directory",
    "Where the session's files go. Spilled blocks go to all the directories in turn. The first directory also holds the socket, and the store if shared memory is too small for it.",
  ),
  maxSpill: optional(
    size,
    "the free space of the directories",
    "Most bytes that spilled blocks may take on disk, in all directories together.",
  ),
  spillCompression: setting(
    choice("none", "lz4", "zstd", "auto"),
    "none",
    'How spilled blocks are compressed. "zstd" needs Node 22.15. "auto": the best codec of this Node, for blocks of which a sample shows that compression pays.',
  ),
  worker: {
    memory: {
      target: setting(
        fractionOrFalse,
        0.6,
        "When the worker's managed memory is above this share of `memoryLimit`, its least recently used blocks go to disk.",
      ),
      spill: setting(
        fractionOrFalse,
        0.7,
        "When the worker's process memory is above this share of `memoryLimit`, its blocks go to disk until it is below `target`.",
      ),
      pause: setting(
        fractionOrFalse,
        0.8,
        "When the worker's process memory is above this share of `memoryLimit`, the worker starts no tasks until it is 0.05 below.",
      ),
      terminate: setting(
        fractionOrFalse,
        0.95,
        "When the worker's process memory is above this share of `memoryLimit`, its process is ended and its task runs again.",
      ),
      recentToOldTime: setting(
        duration,
        "30s",
        "How long unmanaged memory counts as recent; after that it counts as old.",
      ),
      monitorInterval: setting(interval, "200ms", "How often workers are measured."),
      pausedTooLong: setting(
        duration,
        "30s",
        "When a worker has been paused this long and has nothing left to spill, a warning names the cause.",
      ),
    },
  },
  measure: setting(
    choice("auto", "process", "managed"),
    "auto",
    'Which part of a worker\'s memory counts. "auto": process memory for the thresholds; process memory without recent memory for choosing the worker of a task. "process": process memory for both. "managed": managed memory for both.',
  ),
  memoryUsageThreshold: setting(
    fractionOrFalse,
    0.95,
    "When the machine uses more than this share of its memory, workers are ended before the system's OOM killer acts. false: never.",
  ),
  memoryMonitorRefreshMs: setting(
    wholeNumber(0, "milliseconds"),
    250,
    "Milliseconds between two measurements of the machine's memory. 0: never measured.",
  ),
  maxRetries: setting(wholeNumber(0), 3, "How many times a task runs again after its worker died."),
  maxOomRetries: setting(
    wholeNumber(0),
    4,
    "How many times a task runs again after it ran out of memory, each time with less at once.",
  ),
  maxErroredBlocks: setting(
    wholeNumber(0),
    0,
    "How many tasks of a job may fail with an error of your function before the job fails. The rows of these tasks are missing.",
  ),
  resourceLimits: {
    cpu: optional(cores, "as many as there are workers", "Cores that running tasks may have together."),
    gpu: optional(
      wholeNumber(0, "GPUs", MOST_GPUS),
      "those that the machine shows, or those of CUDA_VISIBLE_DEVICES if it is set",
      "GPUs that running tasks may have together.",
    ),
    memory: optional(size, "the machine's memory", "Memory that running tasks may ask for together."),
    objectStoreMemory: optional(size, "`objectStoreMemory` alone is the limit", "Upper limit of the store's capacity."),
  },
  targetMaxBlockSize: optional(
    sizeOrFalse,
    '"128 MiB", or the size of the `preset`',
    "Largest size of a block; only a single row may be larger. Lowered in a small store. false: all rows of a task become one block.",
  ),
  targetMinBlockSize: optional(
    sizeOrFalse,
    '"1 MiB", or the size of the `preset`',
    "Neighbouring blocks of a task that are smaller are put together. false: each batch becomes a block.",
  ),
  targetShuffleMaxBlockSize: optional(
    size,
    '"512 MiB", or the size of the `preset`',
    "`targetMaxBlockSize` for the blocks between the two halves of a shuffle; at most a quarter of the largest block that the store allows.",
  ),
  preset: optional(
    choice(...PRESETS),
    "none",
    "Block sizes for a kind of work. A size that you set yourself wins over the preset's.",
  ),
  eager: setting(flag, false, "Run each operator as soon as it is added, and keep its result. For exploring data."),
  preserveOrder: setting(
    flag,
    false,
    "Give results in the order of the input. This costs time: later blocks wait for earlier ones.",
  ),
  exchange: setting(
    flag,
    false,
    "Cut the rows of sorts, groups, joins and shuffles into partitions, one worker for each, as a cluster does. On one machine, one kernel with all threads is faster.",
  ),
  localityWithOutput: setting(
    flag,
    false,
    "Run a task in the worker that made its input, if possible: the input may still be in its caches.",
  ),
  shareNode: setting(
    flag,
    true,
    "Agree with your other sessions on the machine, or in its container, on what each may use of the memory. false: plan with all of it, whoever else is there.",
  ),
  progress: setting(flag, true, "Show the progress of jobs on stderr."),
  dashboard: setting(
    portOrFlag,
    true,
    "A page that shows the session live, on 127.0.0.1. true: on port 8787. A number: on this port. If the port is taken, the next free one is used.",
  ),
  eventFileLimit: setting(
    size,
    "64 MiB",
    "Most bytes of the session's event file. Beyond it, old events of tasks and blocks are kept as totals.",
  ),
  allocator: setting(choice("system", "jemalloc"), "system", "Memory allocator of the workers' native code."),
  mallocTrimThreshold: setting(
    bytesOrFalse,
    false,
    "A worker's allocator returns free memory at the top of the native heap to the system when there is more than this. false: the allocator's own threshold.",
  ),
  data: optional(
    workerData,
    "none",
    "Worker data: a Map, an object with a Map's methods, or a function that makes one. Each worker gets its own, and its entries count as managed memory.",
  ),
  workerEnv: setting(textByName, {}, "Environment variables of the workers."),
  workerExecArgv: setting(texts, [], "Node options of the workers, such as `--inspect`."),
};

export type Schema = typeof SCHEMA;
export type Settings = Values<Schema>;
export type Preset = (typeof PRESETS)[number];
