/**
 * What a supervisor is started with, and the places that follow from it. The program fills it in; the supervisor checks
 * nothing twice. It comes as JSON on its standard input: everybody can read a command line.
 */
import { join } from "node:path";
import type { ResolvedSettings } from "../config/index.ts";
import { OptionError } from "../errors/index.ts";
import { SOCKET } from "../protocol/index.ts";

export interface SupervisorOptions extends ResolvedSettings {
  /** Unique, and short: the socket's path may have 107 bytes. */
  readonly session: string;
  /** Whoever connects must show it. */
  readonly token: string;
  /** Logs of this session; its siblings are the sessions before. */
  readonly stateDirectory: string;
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
    `session: localDirectory is too long: the session's socket in it would have a path of ${bytes} bytes, but the system allows ${LONGEST_SOCKET_PATH}. Choose a shorter path than ${localDirectory}.`,
  );
}
