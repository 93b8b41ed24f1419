/**
 * What the settings come to on one machine. The program works them out once (src/session/options.ts) and passes them
 * unchanged to the supervisor and the scheduler. A setting that means the same on every machine keeps its name and
 * type; only the others have a field here.
 */
import type { MemoryPool } from "../memory/index.ts";
import type { Bytes, KernelLease, MemorySettings, ResourceRequest } from "../protocol/index.ts";
import type { Settings } from "./schema.ts";

/** Leaves out the settings that depend on the machine, and those that only a program can hold. */
export function plainSettings({
  workers,
  objectStoreMemory,
  memoryLimit,
  localDirectory,
  maxSpill,
  worker,
  measure,
  memoryUsageThreshold,
  memoryMonitorRefreshMs,
  resourceLimits,
  targetMaxBlockSize,
  targetMinBlockSize,
  targetShuffleMaxBlockSize,
  preset,
  eventFileLimit,
  allocator,
  mallocTrimThreshold,
  data,
  workerEnv,
  ...plain
}: Settings) {
  return plain;
}

type PlainSettings = Readonly<ReturnType<typeof plainSettings>>;

export interface ResolvedSettings extends PlainSettings {
  /** Worker processes kept alive. */
  readonly workers: number;
  /** How many additional workers there is memory for, while blocked work has no worker. */
  readonly extraWorkers: number;
  /** The store's capacity. */
  readonly capacity: Bytes;
  readonly targetMaxBlockSize: Bytes;
  /** False: batches become blocks as they are. */
  readonly targetMinBlockSize: Bytes | false;
  readonly targetShuffleMaxBlockSize: Bytes;
  /** Where the session directory is made: the first of `localDirectories`. */
  readonly localDirectory: string;
  /** Each gets a part of the spill files. */
  readonly localDirectories: readonly string[];
  /** The most bytes in spill files; null: as much as the disks have. */
  readonly maxSpill: Bytes | null;
  /** Memory limit of a worker; null: none, hence no threshold. */
  readonly workerMemory: Bytes | null;
  /** The limits of workers follow from the memory that the session may use: the user has set none. */
  readonly automaticLimits: boolean;
  /** The user has set the store's capacity, or the number of workers: they stay while the session has less memory. */
  readonly isStoreGiven: boolean;
  readonly areWorkersGiven: boolean;
  /** What the user's own options need of the node's memory, which they are, and the most that the session may use. */
  readonly claim: { readonly memory: Bytes; readonly options: readonly string[]; readonly most: Bytes };
  /** V8's old-space limit of a worker with the ordinary memory limit; null: V8's own. */
  readonly workerHeap: Bytes | null;
  /** Resident bytes of a worker's own blocks above which they are spilled; null: only the capacity counts. */
  readonly managedTarget: Bytes | null;
  /** What the kernel of a worker may use; also the wide kernel's first lease. */
  readonly workerLease: KernelLease;
  readonly wideLease: KernelLease;
  /** The memory that the session's processes share. */
  readonly pool: MemoryPool;
  /** Thresholds of workers and of the node, and how they are measured. */
  readonly memory: MemorySettings;
  /** What all running tasks together can use. */
  readonly resources: ResourceRequest;
  /** Names of the GPUs, as CUDA_VISIBLE_DEVICES gives them. */
  readonly devices: readonly string[];
  /** The most bytes of the session's event file. */
  readonly eventFileLimit: Bytes;
  readonly workerEnv: Readonly<Record<string, string>>;
}
