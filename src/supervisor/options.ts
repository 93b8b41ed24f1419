/**
 * The options of a supervisor, and the paths that follow from them. The program checks them; the supervisor trusts
 * them. They come as JSON on stdin, because everybody can read a command line.
 */
import { join } from "node:path";
import type { ResolvedSettings } from "../config/index.ts";
import { OptionError } from "../errors/index.ts";
import { type SettingShown, SOCKET } from "../protocol/index.ts";

export interface SupervisorOptions extends ResolvedSettings {
  /** For observers: the settings in force, without secrets. */
  readonly shown: readonly SettingShown[];
  /** Unique, and short: the socket's path may have 107 bytes. */
  readonly session: string;
  /** Every connection must show it. */
  readonly token: string;
  /** Gives access to the dashboard, and to nothing else. */
  readonly dashboardToken: string;
  /** Logs of this session; directories beside it belong to earlier sessions. */
  readonly stateDirectory: string;
  /** Pid of the program. */
  readonly parentPid: number;
  /** Another worker program, for tests. */
  readonly workerProgram?: string;
}

/** What a supervisor prints when it listens. */
export interface Ready {
  /** The session's directory, with the socket in it. */
  readonly directory: string;
}

/** `<localDirectory>/spillway-<uid>`: every session of this user on this machine. */
export function sessionsDirectory(localDirectory: string): string {
  return join(localDirectory, `spillway-${process.geteuid?.() ?? 0}`);
}

/** Applies if the name is not taken (see places.ts). */
export function sessionDirectory(options: Pick<SupervisorOptions, "localDirectory" | "session">): string {
  return join(sessionsDirectory(options.localDirectory), options.session);
}

export function socketPath(sessionDirectory: string): string {
  return join(sessionDirectory, SOCKET);
}

const LONGEST_SOCKET_PATH = 107;

/** The system cuts longer socket paths silently. */
export function checkSocketPath(sessionDirectory: string, localDirectory: string): void {
  const bytes = Buffer.byteLength(socketPath(sessionDirectory));
  if (bytes <= LONGEST_SOCKET_PATH) return;
  throw new OptionError(
    `session: localDirectory is too long: the session's socket in it would have a path of ${bytes} bytes, but the system allows ${LONGEST_SOCKET_PATH}. Choose a shorter path than ${localDirectory}.`,
  );
}
