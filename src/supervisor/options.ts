/**
 * What a supervisor is started with (JSON in argv[2]), and the places that follow from it. The program fills it in;
 * the supervisor checks nothing twice.
 */
import { userInfo } from "node:os";
import { join } from "node:path";
import type { Bytes, ResourceRequest } from "../protocol/index.ts";

export interface SupervisorOptions {
  /** Unique, and short: the socket's path may have 107 bytes. */
  readonly session: string;
  /** Whoever connects must show it. */
  readonly token: string;
  /** Where the session directory is made. */
  readonly localDirectory: string;
  /** The store's capacity. */
  readonly capacity: Bytes;
  /** Worker processes kept alive. */
  readonly workers: number;
  /** Memory limit of a worker; null: none. */
  readonly workerMemory: Bytes | null;
  /** What tasks can have at once. */
  readonly resources: ResourceRequest;
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

/** The rest of a worker's memory is the kernel's, and buffers outside the heap. */
const HEAP_SHARE = 0.75;

/** V8's old space in a worker with this limit. */
export function heapFor(memory: Bytes): Bytes {
  return Math.floor(memory * HEAP_SHARE);
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
