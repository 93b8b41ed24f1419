/**
 * What a supervisor is started with (JSON in argv[2]), and the places that follow from it. The program fills it in;
 * the supervisor checks nothing twice.
 */
import { userInfo } from "node:os";
import { join } from "node:path";
import type { Bytes } from "../protocol/index.ts";

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
  /** V8 old-space limit of a worker; null: V8's own. */
  readonly workerHeap: Bytes | null;
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
