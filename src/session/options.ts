/** What a session can be told, its defaults, and what they come to on this machine. */
import { randomBytes } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import type { ContainerOption } from "../container/index.ts";
import { OptionError } from "../errors/index.ts";
import {
  extraWorkersThatFit,
  firstLease,
  fixedShares,
  heapThatFits,
  kernelThatFits,
  type MemoryPool,
  nodeMemory,
  workersThatFit,
} from "../memory/index.ts";
import type { Bytes, MemorySettings, ResourceRequest } from "../protocol/index.ts";
import type { SpillCompression } from "../store/spill/index.ts";
import { heapFor, type SupervisorOptions, socketPath } from "../supervisor/options.ts";
import { formatSize, nearest, parseSize } from "../units/index.ts";
import { blockSizes, type Preset } from "./block-sizes.ts";
import { containerPayload } from "./container-option.ts";
import { type ResourceLimits, resolveLimits, type Size } from "./limits.ts";
import { memorySettings } from "./memory-options.ts";
import { type ResolvedSpilling, spilling, type WorkerOptions } from "./spill-options.ts";
import { type Allocator, workerEnvironment } from "./worker-environment.ts";

export interface SessionOptions {
  /** Worker processes; the machine's cores by default, fewer where its memory is too small for that many. */
  readonly workers?: number;
  /** The store's capacity: bytes, "4 GiB", or a fraction of the machine; 0.30 by default. */
  readonly objectStoreMemory?: Size;
  /** Memory of one worker: its V8 heap may grow to three quarters of it. "auto": what the store leaves of the machine, over the workers. */
  readonly memoryLimit?: Size | "auto";
  /**
   * Where the session's files go: spilled blocks, in all of several directories in turn; in the first the socket, and the store
   * where shared memory is small. The OS's temporary directory by default.
   */
  readonly localDirectory?: string | readonly string[];
  /** The most bytes of spilled blocks on disk, over all directories; by default as much as there is. */
  readonly maxSpill?: Size;
  /** "lz4" or "zstd" (Node 22.15 or later), or "auto": the best there is, where a sample of the block says that it pays. "none" by default. */
  readonly spillCompression?: SpillCompression;
  /** When a worker's blocks go to disk. */
  readonly worker?: WorkerOptions;
  /** No block is larger, unless it is one row; "128 MiB" by default, less in a small store. False: a task's rows are one block. */
  readonly targetMaxBlockSize?: Size | false;
  /** Smaller neighbours within a task are put together; "1 MiB" by default. False: batches become blocks as they are. */
  readonly targetMinBlockSize?: Size | false;
  /** The same as `targetMaxBlockSize` for blocks between the halves of a shuffle; "512 MiB" by default. */
  readonly targetShuffleMaxBlockSize?: Size;
  /** Block sizes for a kind of work; those that are given one by one come first. */
  readonly preset?: Preset;
  /** Run each operator as it is added and keep its result, for exploring; false by default. */
  readonly eager?: boolean;
  /** Results in the order of the input; false by default, because waiting for the order costs time. */
  readonly preserveOrder?: boolean;
  /**
   * Sort, group, join and shuffle by partitions of the rows, each in a worker, as a cluster does; false by default: on one machine
   * one kernel with all threads is faster.
   */
  readonly exchange?: boolean;
  /** Prefer for a task the worker that made its input, whose caches have it; false by default. */
  readonly localityWithOutput?: boolean;
  /** Tasks that may fail by the user's own error before a job does; 0 by default. */
  readonly maxErroredBlocks?: number;
  /** How often a task is tried again after its worker died; 3 by default. */
  readonly maxRetries?: number;
  /** How often a task is tried again, each time asking for less, after it ran out of memory; 4 by default. */
  readonly maxOomRetries?: number;
  /** What of a worker's memory counts; "auto" by default. */
  readonly measure?: MemorySettings["measure"];
  /** Share of the machine's memory above which workers are ended before the system does it; 0.95 by default. */
  readonly memoryUsageThreshold?: number;
  /** How often the machine's memory is looked at, in milliseconds; 250 by default, 0: never. */
  readonly memoryMonitorRefreshMs?: number;
  /** The most that this session's tasks and store may have of the machine. */
  readonly resourceLimits?: ResourceLimits;
  /** Show on stderr how a job goes on; true by default. */
  readonly progress?: boolean;
  /**
   * Free memory at the top of a worker's heap above which the C library gives it back at once (MALLOC_TRIM_THRESHOLD_): bytes, or
   * "1 MiB". False by default: the C library adapts to what is allocated, which is faster.
   */
  readonly mallocTrimThreshold?: Size | false;
  /** "jemalloc": preloaded in workers, where it is installed. "system" by default. */
  readonly allocator?: Allocator;
  /**
   * A container of your own in every worker, for what functions keep there (`workerData()`): a Map-like, of which each worker has
   * a copy, a function or class that makes one, or that with arguments.
   */
  readonly data?: ContainerOption;
  /** Environment variables of the workers. */
  readonly workerEnv?: Readonly<Record<string, string>>;
  /** Node options of the workers, such as `--inspect`. */
  readonly workerExecArgv?: readonly string[];
}

export interface ResolvedOptions extends ResolvedSpilling {
  readonly workers: number;
  readonly capacity: Bytes;
  readonly workerMemory: Bytes;
  /** Workers beyond these that there may be for a while. */
  readonly extraWorkers: number;
  /** Limit of a worker's V8 heap. */
  readonly workerHeap: Bytes;
  /** What a worker's kernel may hold. */
  readonly workerKernel: Bytes;
  readonly pool: MemoryPool;
  /** What tasks can have at once. */
  readonly resources: ResourceRequest;
  readonly devices: readonly string[];
  readonly targetMaxBlockSize: Bytes;
  readonly targetMinBlockSize: Bytes | false;
  readonly targetShuffleMaxBlockSize: Bytes;
  readonly eager: boolean;
  readonly preserveOrder: boolean;
  readonly exchange: boolean;
  readonly localityWithOutput: boolean;
  readonly maxErroredBlocks: number;
  readonly maxRetries: number;
  readonly maxOomRetries: number;
  /** Thresholds of workers and of the node. */
  readonly memory: MemorySettings;
  readonly progress: boolean;
  readonly workerEnv: Readonly<Record<string, string>>;
  readonly workerExecArgv: readonly string[];
  /** The user's container, as it travels to workers. */
  readonly container: string | null;
  /** What the user should know about how the options were met. */
  readonly notices: readonly string[];
}

const STORE_FRACTION = 0.3;
/** Below this a block is not worth its messages. */
const SMALLEST_BLOCK: Bytes = 64 << 10;
/** Node itself and the kernel's library take about 50 MiB before the first row. */
const SMALLEST_WORKER: Bytes = 64 << 20;

const LONGEST_SOCKET_PATH = 107;

const KNOWN: ReadonlySet<string> = new Set<keyof SessionOptions>([
  "workers",
  "objectStoreMemory",
  "memoryLimit",
  "localDirectory",
  "maxSpill",
  "spillCompression",
  "worker",
  "targetMaxBlockSize",
  "targetMinBlockSize",
  "targetShuffleMaxBlockSize",
  "preset",
  "eager",
  "preserveOrder",
  "exchange",
  "localityWithOutput",
  "maxErroredBlocks",
  "maxRetries",
  "maxOomRetries",
  "measure",
  "memoryUsageThreshold",
  "memoryMonitorRefreshMs",
  "resourceLimits",
  "progress",
  "mallocTrimThreshold",
  "allocator",
  "data",
  "workerEnv",
  "workerExecArgv",
]);

export function resolveOptions(options: SessionOptions): ResolvedOptions {
  for (const key of Object.keys(options)) {
    if (KNOWN.has(key)) continue;
    const meant = nested(key) ?? quoted(nearest(key, [...KNOWN]));
    const hint = meant === null ? "" : ` Did you mean ${meant}?`;
    throw new OptionError(`session: there is no option "${key}".${hint} Options: ${[...KNOWN].join(", ")}.`);
  }
  const total = nodeMemory();
  const size = (name: keyof SessionOptions, value: Size) =>
    parseSize(value, { name: `session: ${name}`, whole: total });
  const limits = resolveLimits(options.resourceLimits ?? {}, total);
  const capacity = Math.min(
    size("objectStoreMemory", options.objectStoreMemory ?? STORE_FRACTION),
    limits.objectStoreMemory,
  );
  const node = { memory: limits.memory, cores: Math.max(1, Math.floor(limits.cpu)), store: capacity };
  const workers = wholeNumber("workers", options.workers ?? workersThatFit(node), 1);
  if (capacity < SMALLEST_BLOCK * 4 * workers) {
    throw new OptionError(
      `session: objectStoreMemory of ${formatSize(capacity)} is too small for ${workers} workers: at least ${formatSize(SMALLEST_BLOCK * 4 * workers)} are needed.`,
    );
  }
  const limit = options.memoryLimit ?? "auto";
  const workerMemory = limit === "auto" ? Math.floor(limits.memory / workers) : size("memoryLimit", limit);
  if (workerMemory < SMALLEST_WORKER) {
    throw new OptionError(
      `session: memoryLimit of ${formatSize(workerMemory)} is too small: a worker needs at least ${formatSize(SMALLEST_WORKER)}.${limit === "auto" ? ` There are ${formatSize(limits.memory)} for ${workers} workers: use fewer.` : ""}`,
    );
  }
  const workerHeap = limit === "auto" ? heapThatFits(node, workers) : heapFor(workerMemory);
  const { notice, ...sizes } = blockSizes(options, { capacity, workers, workerHeap }, size);
  const notices = notice === null ? [] : [notice];
  if (options.workers === undefined && workers < node.cores) {
    notices.push(
      `${workers} of ${node.cores} possible workers: there are ${formatSize(total)} of memory, ${formatSize(capacity)} of them for the store. \`workers\` says how many there shall be.`,
    );
  }
  return {
    workers,
    capacity,
    workerMemory,
    extraWorkers: extraWorkersThatFit(node, workers),
    workerHeap,
    workerKernel: kernelThatFits(node, workers),
    pool: { memory: limits.memory, ...fixedShares, threads: node.cores },
    resources: {
      cpu: options.resourceLimits?.cpu === undefined ? workers : limits.cpu,
      gpu: limits.devices.length,
      memory: limits.memory,
    },
    devices: limits.devices,
    ...sizes,
    ...spilling(options, workerMemory, size),
    eager: flag("eager", options.eager ?? false),
    preserveOrder: flag("preserveOrder", options.preserveOrder ?? false),
    exchange: flag("exchange", options.exchange ?? false),
    localityWithOutput: flag("localityWithOutput", options.localityWithOutput ?? false),
    maxErroredBlocks: wholeNumber("maxErroredBlocks", options.maxErroredBlocks ?? 0, 0),
    maxRetries: wholeNumber("maxRetries", options.maxRetries ?? 3, 0),
    maxOomRetries: wholeNumber("maxOomRetries", options.maxOomRetries ?? 4, 0),
    memory: memorySettings(options),
    progress: flag("progress", options.progress ?? true),
    workerEnv: workerEnvironment(options),
    container: options.data === undefined ? null : containerPayload(options.data),
    workerExecArgv: options.workerExecArgv ?? [],
    notices,
  };
}

function quoted(name: string | null): string | null {
  return name === null ? null : `"${name}"`;
}

/** "worker.memory.target" as it is written here: "{ worker: { memory: { target: … } } }". */
function nested(key: string): string | null {
  const path = key.split(".");
  if (path.length < 2 || !KNOWN.has(path[0] ?? "")) return null;
  return path.reduceRight((inner, name) => `{ ${name}: ${inner} }`, "…");
}

/** `~/.local/state/spillway`: what is meant to stay, of the last sessions. */
export function stateRoot(): string {
  return join(process.env.XDG_STATE_HOME ?? join(homedir(), ".local", "state"), "spillway");
}

export function supervisorOptions(options: ResolvedOptions): SupervisorOptions {
  const stamp = new Date().toISOString().replace(/[-:]/g, "").slice(0, 15);
  const session = `${stamp}-${process.pid}-${randomBytes(3).toString("hex")}`;
  checkSocketPath(options.localDirectory, session);
  return {
    session,
    token: randomBytes(16).toString("hex"),
    localDirectory: options.localDirectory,
    localDirectories: options.localDirectories,
    maxSpill: options.maxSpill,
    spillCompression: options.spillCompression,
    managedTarget: options.managedTarget,
    capacity: options.capacity,
    workers: options.workers,
    extraWorkers: options.extraWorkers,
    workerHeap: options.workerHeap,
    workerMemory: options.workerMemory,
    resources: options.resources,
    workerLease: { threads: 1, memory: options.workerKernel },
    wideLease: firstLease(options.pool, options.capacity, options.workers),
    pool: options.pool,
    memory: options.memory,
    devices: options.devices,
    localityWithOutput: options.localityWithOutput,
    stateDirectory: join(stateRoot(), session),
    workerEnv: options.workerEnv,
    workerExecArgv: options.workerExecArgv,
    parentPid: process.pid,
  };
}

/** The system cuts longer paths of sockets without a word. */
function checkSocketPath(localDirectory: string, session: string): void {
  const bytes = Buffer.byteLength(socketPath({ localDirectory, session }));
  if (bytes <= LONGEST_SOCKET_PATH) return;
  throw new OptionError(
    `session: localDirectory is too long: the session's socket in it would have a path of ${bytes} bytes, and the system allows ${LONGEST_SOCKET_PATH}. Choose a shorter one than ${localDirectory}.`,
  );
}

function flag(name: string, value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw new OptionError(`session: ${name} must be true or false, not ${JSON.stringify(value)}.`);
}

function wholeNumber(name: string, value: number, least: number): number {
  if (Number.isInteger(value) && value >= least) return value;
  throw new OptionError(`session: ${name} must be a whole number of at least ${least}, not ${value}.`);
}
