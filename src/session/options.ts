/** What a session can be told, its defaults, and what they come to on this machine. */
import { randomBytes } from "node:crypto";
import { homedir, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { OptionError } from "../errors/index.ts";
import type { Bytes, ResourceRequest } from "../protocol/index.ts";
import { type SupervisorOptions, socketPath } from "../supervisor/options.ts";
import { formatSize, nearest, parseSize } from "../units/index.ts";
import { type ResourceLimits, resolveLimits, type Size } from "./limits.ts";

export interface SessionOptions {
  /** Worker processes; the machine's cores by default. */
  readonly workers?: number;
  /** The store's capacity: bytes, "4 GiB", or a fraction of the machine; 0.30 by default. */
  readonly objectStoreMemory?: Size;
  /** Memory of one worker: its V8 heap may grow to three quarters of it. "auto": the machine's memory over the workers. */
  readonly memoryLimit?: Size | "auto";
  /** Where the session's files go: the socket, and the store where shared memory is small. The OS's temporary directory by default. */
  readonly localDirectory?: string;
  /** Blocks are handed over at about this size; "128 MiB" by default, less in a small store. */
  readonly targetMaxBlockSize?: Size;
  /** Run each operator as it is added and keep its result, for exploring; false by default. */
  readonly eager?: boolean;
  /** Results in the order of the input; false by default, because waiting for the order costs time. */
  readonly preserveOrder?: boolean;
  /** Prefer for a task the worker that made its input, whose caches have it; false by default. */
  readonly localityWithOutput?: boolean;
  /** Tasks that may fail by the user's own error before a job does; 0 by default. */
  readonly maxErroredBlocks?: number;
  /** How often a task is tried again after its worker died; 3 by default. */
  readonly maxRetries?: number;
  /** The most that this session's tasks and store may have of the machine. */
  readonly resourceLimits?: ResourceLimits;
  /** Show on stderr how a job goes on; true by default. */
  readonly progress?: boolean;
  /** Environment variables of the workers. */
  readonly workerEnv?: Readonly<Record<string, string>>;
  /** Node options of the workers, such as `--inspect`. */
  readonly workerExecArgv?: readonly string[];
}

export interface ResolvedOptions {
  readonly workers: number;
  readonly capacity: Bytes;
  readonly workerMemory: Bytes;
  /** What tasks can have at once. */
  readonly resources: ResourceRequest;
  readonly devices: readonly string[];
  readonly targetMaxBlockSize: Bytes;
  readonly localDirectory: string;
  readonly eager: boolean;
  readonly preserveOrder: boolean;
  readonly localityWithOutput: boolean;
  readonly maxErroredBlocks: number;
  readonly maxRetries: number;
  readonly progress: boolean;
  readonly workerEnv: Readonly<Record<string, string>>;
  readonly workerExecArgv: readonly string[];
  /** What the user should know about how the options were met. */
  readonly notices: readonly string[];
}

const STORE_FRACTION = 0.3;
const BLOCK: Bytes = 128 << 20;
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
  "targetMaxBlockSize",
  "eager",
  "preserveOrder",
  "localityWithOutput",
  "maxErroredBlocks",
  "maxRetries",
  "resourceLimits",
  "progress",
  "workerEnv",
  "workerExecArgv",
]);

/** The machine's memory, or the container's where that is less. */
export function nodeMemory(): Bytes {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(totalmem(), constrained) : totalmem();
}

export function resolveOptions(options: SessionOptions): ResolvedOptions {
  for (const key of Object.keys(options)) {
    if (KNOWN.has(key)) continue;
    const meant = nearest(key, [...KNOWN]);
    const hint = meant === null ? "" : ` Did you mean "${meant}"?`;
    throw new OptionError(`session: there is no option "${key}".${hint} Options: ${[...KNOWN].join(", ")}.`);
  }
  const total = nodeMemory();
  const size = (name: keyof SessionOptions, value: Size) =>
    parseSize(value, { name: `session: ${name}`, whole: total });
  const limits = resolveLimits(options.resourceLimits ?? {}, total);
  const workers = wholeNumber("workers", options.workers ?? Math.max(1, Math.floor(limits.cpu)), 1);
  const capacity = Math.min(
    size("objectStoreMemory", options.objectStoreMemory ?? STORE_FRACTION),
    limits.objectStoreMemory,
  );
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
  const asked = size("targetMaxBlockSize", options.targetMaxBlockSize ?? BLOCK);
  const fits = Math.floor(capacity / (2 * (workers + 1)));
  const notices: string[] = [];
  if (asked > fits && options.targetMaxBlockSize !== undefined) {
    notices.push(
      `targetMaxBlockSize lowered from ${formatSize(asked)} to ${formatSize(fits)}: the store holds ${formatSize(capacity)} for ${workers} workers.`,
    );
  }
  return {
    workers,
    capacity,
    workerMemory,
    resources: {
      cpu: options.resourceLimits?.cpu === undefined ? workers : limits.cpu,
      gpu: limits.devices.length,
      memory: limits.memory,
    },
    devices: limits.devices,
    targetMaxBlockSize: Math.max(1, Math.min(asked, fits)),
    localDirectory: options.localDirectory ?? tmpdir(),
    eager: flag("eager", options.eager ?? false),
    preserveOrder: flag("preserveOrder", options.preserveOrder ?? false),
    localityWithOutput: flag("localityWithOutput", options.localityWithOutput ?? false),
    maxErroredBlocks: wholeNumber("maxErroredBlocks", options.maxErroredBlocks ?? 0, 0),
    maxRetries: wholeNumber("maxRetries", options.maxRetries ?? 3, 0),
    progress: flag("progress", options.progress ?? true),
    workerEnv: options.workerEnv ?? {},
    workerExecArgv: options.workerExecArgv ?? [],
    notices,
  };
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
    capacity: options.capacity,
    workers: options.workers,
    workerMemory: options.workerMemory,
    resources: options.resources,
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
