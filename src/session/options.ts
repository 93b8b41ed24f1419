/**
 * What the settings of a session come to on this machine, and what its supervisor is told of it. What there is to set
 * is src/config's.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Config, readConfig, type SessionOptions, type Settings, type Size } from "../config/index.ts";
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
import type { Bytes, ResourceRequest } from "../protocol/index.ts";
import { checkSocketPath, type SupervisorOptions, sessionDirectory } from "../supervisor/index.ts";
import { formatSize, parseSize } from "../units/index.ts";
import { type BlockSizes, blockSizes } from "./block-sizes.ts";
import { containerPayload } from "./container-option.ts";
import { resolveLimits } from "./limits.ts";
import { type ResolvedSpilling, spilling } from "./spill-options.ts";
import { workerEnvironment } from "./worker-environment.ts";
import { type ResolvedWorkerMemory, workerMemory } from "./worker-memory.ts";

export type { SessionOptions } from "../config/index.ts";

export interface ResolvedOptions extends ResolvedSpilling, ResolvedWorkerMemory, Omit<BlockSizes, "notice"> {
  readonly workers: number;
  readonly capacity: Bytes;
  /** Workers beyond these that there may be for a while. */
  readonly extraWorkers: number;
  /** What a worker's kernel may hold. */
  readonly workerKernel: Bytes;
  readonly pool: MemoryPool;
  /** What tasks can have at once. */
  readonly resources: ResourceRequest;
  readonly devices: readonly string[];
  readonly eager: boolean;
  readonly preserveOrder: boolean;
  readonly exchange: boolean;
  readonly localityWithOutput: boolean;
  readonly maxErroredBlocks: number;
  readonly maxRetries: number;
  readonly maxOomRetries: number;
  readonly progress: boolean;
  readonly eventFileLimit: Bytes;
  readonly workerEnv: Readonly<Record<string, string>>;
  readonly workerExecArgv: readonly string[];
  /** The user's container, as it travels to workers. */
  readonly container: string | null;
  /** What the user should know about how the options were met. */
  readonly notices: readonly string[];
}

/** Below this a block is not worth its messages. */
const SMALLEST_BLOCK: Bytes = 64 << 10;

export function resolveOptions(options: SessionOptions = {}): ResolvedOptions {
  return onThisMachine(readConfig({ code: options }));
}

/** What the settings in force come to here. */
export function onThisMachine(config: Config): ResolvedOptions {
  const { values, said } = config;
  const total = nodeMemory();
  const size = (name: keyof Settings, value: Size) =>
    parseSize(value, { name: `${said(name)}: ${name}`, whole: total });
  const limits = resolveLimits(config, total);
  const capacity = Math.min(size("objectStoreMemory", values.objectStoreMemory), limits.objectStoreMemory);
  // What tasks may ask for is the user's word; what processes are given is there.
  const memory = Math.min(limits.memory, total);
  const node = { memory, cores: Math.max(1, Math.floor(limits.cpu)), store: capacity };
  const workers = values.workers ?? workersThatFit(node);
  if (capacity < SMALLEST_BLOCK * 4 * workers) {
    throw new OptionError(
      `${said("objectStoreMemory")}: objectStoreMemory of ${formatSize(capacity)} is too small for ${workers} workers: at least ${formatSize(SMALLEST_BLOCK * 4 * workers)} are needed.`,
    );
  }
  const { notice: limitNotice, ...worker } = workerMemory(config, node, workers, total);
  const workerHeap = worker.workerHeap ?? heapThatFits(node, workers);
  const { notice: sizeNotice, ...sizes } = blockSizes(config, { capacity, workers, workerHeap }, size);
  const fewerNotice =
    values.workers !== undefined || workers === node.cores
      ? null
      : `${workers} of ${node.cores} possible workers: there are ${formatSize(memory)} of memory, and the store may have ${formatSize(capacity)}. \`workers\` says how many there shall be.`;
  return {
    workers,
    capacity,
    ...worker,
    extraWorkers: extraWorkersThatFit(node, workers),
    workerKernel: kernelThatFits(node, workers),
    pool: { memory, ...fixedShares, threads: node.cores },
    resources: {
      cpu: values.resourceLimits.cpu === undefined ? workers : limits.cpu,
      gpu: limits.devices.length,
      memory: limits.memory,
    },
    devices: limits.devices,
    ...sizes,
    ...spilling(values, size),
    eager: values.eager,
    preserveOrder: values.preserveOrder,
    exchange: values.exchange,
    localityWithOutput: values.localityWithOutput,
    maxErroredBlocks: values.maxErroredBlocks,
    maxRetries: values.maxRetries,
    maxOomRetries: values.maxOomRetries,
    progress: values.progress,
    eventFileLimit: size("eventFileLimit", values.eventFileLimit),
    workerEnv: workerEnvironment(values),
    container: values.data === undefined ? null : containerPayload(values.data),
    workerExecArgv: values.workerExecArgv,
    notices: [limitNotice, sizeNotice, fewerNotice].filter((notice) => notice !== null),
  };
}

/** `state`: where logs stay. */
export function supervisorOptions(options: ResolvedOptions, state: string): SupervisorOptions {
  const stamp = new Date().toISOString().replace(/[-:]/g, "").slice(0, 15);
  const session = `${stamp}-${process.pid}-${randomBytes(3).toString("hex")}`;
  const { localDirectory } = options;
  checkSocketPath(sessionDirectory({ localDirectory, session }), localDirectory);
  return {
    session,
    token: randomBytes(16).toString("hex"),
    localDirectory,
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
    stateDirectory: join(state, session),
    workerEnv: options.workerEnv,
    workerExecArgv: options.workerExecArgv,
    eventFileLimit: options.eventFileLimit,
    parentPid: process.pid,
  };
}
