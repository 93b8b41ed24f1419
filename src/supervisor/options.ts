/**
 * What a supervisor is started with, and the places that follow from it. The program fills it in; the supervisor checks
 * nothing twice. It comes as JSON on its standard input: everybody can read a command line.
 */
import { join } from "node:path";
import { OptionError } from "../errors/index.ts";
import type { MemoryPool } from "../memory/index.ts";
import { type Bytes, type KernelLease, type MemorySettings, type ResourceRequest, SOCKET } from "../protocol/index.ts";
import type { SpillCompression } from "../store/index.ts";

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
  /** The most bytes of the session's event file. */
  readonly eventFileLimit: Bytes;
  /** The program. */
  readonly parentPid: number;
  /** Another worker program than the one next door (tests). */
  readonly workerProgram?: string;
}

/** What a supervisor says when it listens. */
export interface Ready {
  /** The session's, with the socket in it. */
  readonly directory: string;
}

/** `<localDirectory>/spillway-<uid>`: every session of this user on this machine. */
export function sessionsDirectory(localDirectory: string): string {
  return join(localDirectory, `spillway-${process.geteuid?.() ?? 0}`);
}

/** Where nobody has taken its place (see places.ts). */
export function sessionDirectory(options: Pick<SupervisorOptions, "localDirectory" | "session">): string {
  return join(sessionsDirectory(options.localDirectory), options.session);
}

export function socketPath(sessionDirectory: string): string {
  return join(sessionDirectory, SOCKET);
}

const LONGEST_SOCKET_PATH = 107;

/** The system cuts longer paths of sockets without a word. */
export function checkSocketPath(sessionDirectory: string, localDirectory: string): void {
  const bytes = Buffer.byteLength(socketPath(sessionDirectory));
  if (bytes <= LONGEST_SOCKET_PATH) return;
  throw new OptionError(
    `session: localDirectory is too long: the session's socket in it would have a path of ${bytes} bytes, and the system allows ${LONGEST_SOCKET_PATH}. Choose a shorter one than ${localDirectory}.`,
  );
}
