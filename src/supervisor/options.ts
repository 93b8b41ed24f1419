/**
 * What a supervisor is started with (JSON in argv[2]), and the places that follow from it. The program fills it in;
 * the supervisor checks nothing twice.
 */
import { userInfo } from "node:os";
import { join } from "node:path";
import type { MemoryPool } from "../memory/index.ts";
import type { Bytes, KernelLease, MemorySettings, ResourceRequest } from "../protocol/index.ts";
import type { SpillCompression } from "../store/spill/index.ts";

export interface SupervisorOptions {
  /** Unique, and short: the socket's path may have 107 bytes. */
  readonly session: string;
  /** Whoever connects must show it. */
  readonly token: string;
  /** Where the session directory is made: the first of the next. */
  readonly localDirectory: string;
  /** Each gets a part of the spill files. */
  readonly localDirectories: readonly string[];
  /** The most bytes in spill files; null: as the disks have. */
  readonly maxSpill: Bytes | null;
  readonly spillCompression: SpillCompression;
  /** Resident bytes of a worker's own blocks above which they go to disk; null: only the capacity counts. */
  readonly managedTarget: Bytes | null;
  /** The store's capacity. */
  readonly capacity: Bytes;
  /** Worker processes kept alive. */
  readonly workers: number;
  /** Workers beyond these that there is memory for, where others wait for work that has no worker. */
  readonly extraWorkers: number;
  /** V8 old-space limit of an ordinary worker; null: V8's own. */
  readonly workerHeap: Bytes | null;
  /** Memory limit of a worker; null: none. */
  readonly workerMemory: Bytes | null;
  /** What tasks can have at once. */
  readonly resources: ResourceRequest;
  /** What the kernel of a worker may use, and at the start the wide one. */
  readonly workerLease: KernelLease;
  readonly wideLease: KernelLease;
  /** The memory that the session's processes share. */
  readonly pool: MemoryPool;
  readonly memory: MemorySettings;
  /** Give a task to the worker that made its input, if that is idle. */
  readonly localityWithOutput: boolean;
  /** Names of the GPUs, as CUDA_VISIBLE_DEVICES gives them. */
  readonly devices: readonly string[];
  /** Logs of this session; its siblings are the sessions before. */
  readonly stateDirectory: string;
  readonly workerEnv: Readonly<Record<string, string>>;
  readonly workerExecArgv: readonly string[];
  /** The program. */
  readonly parentPid: number;
  /** Another worker program than the one next door (tests). */
  readonly workerProgram?: string;
}

/** `<localDirectory>/spillway-<uid>`: every session of this user on this machine. */
export function sessionsDirectory(localDirectory: string): string {
  return join(localDirectory, `spillway-${userInfo().uid}`);
}

export function sessionDirectory(options: Pick<SupervisorOptions, "localDirectory" | "session">): string {
  return join(sessionsDirectory(options.localDirectory), options.session);
}

export function socketPath(options: Pick<SupervisorOptions, "localDirectory" | "session">): string {
  return join(sessionDirectory(options), "supervisor.sock");
}
