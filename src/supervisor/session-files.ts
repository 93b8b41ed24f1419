/**
 * What a running session keeps on disk so that the next one could clean up after it: who it is (pids.json) and where
 * its jobs stage files (staging.json); and, next to its logs and its spill files elsewhere, whose they are (owner.json). Each is written whole or not at all.
 */
import { readFileSync, renameSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { OptionError, StoreError } from "../errors/index.ts";
import { makeDirectory } from "../files/index.ts";
import type { ProcessIdentity } from "./process-identity.ts";

export interface SessionRecord {
  readonly supervisor: ProcessIdentity;
  readonly workers: readonly ProcessIdentity[];
  /** The arena's path; null before there is one. */
  readonly arena: string | null;
  readonly spill: readonly string[];
}

/** Nobody else can reach the socket in it. Answers with the outermost directory that had to be made. */
export function makeSessionDirectory(directory: string): string | null {
  return makeDirectory(directory, 0o700);
}

/** The same at the start, where a directory that cannot be had is the user's to change. */
export function firstDirectory(directory: string, localDirectory: string): string | null {
  try {
    return makeSessionDirectory(directory);
  } catch (error) {
    throw new OptionError(
      `session: localDirectory ${localDirectory} cannot be used: ${(error as Error).message}. ` +
        "Choose a directory that can be written to.",
    );
  }
}

const LEFT_ALONE: ReadonlySet<string> = new Set(["ENOTEMPTY", "EEXIST", "ENOENT", "ENOTDIR"]);

/** Removes empty directories from `directory` outwards, up to and with `outermost`. Who starts at this moment makes them again. */
export function removeEmptyDirectories(directory: string, outermost: string = directory): void {
  for (let at = directory; at.startsWith(outermost); at = dirname(at)) {
    try {
      rmdirSync(at);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      // Others use it, it is gone already, or a link of the user's; anything else is no reason not to end, but worth a line in the log.
      if (!LEFT_ALONE.has(code ?? "")) process.stderr.write(`${message}\n`);
      return;
    }
  }
}

export function writeRecord(directory: string, record: SessionRecord): void {
  replaceFile(join(directory, "pids.json"), record);
}

export function readRecord(directory: string): SessionRecord | null {
  return readJson<SessionRecord>(join(directory, "pids.json"));
}

export function writeStaging(directory: string, staging: readonly string[]): void {
  replaceFile(join(directory, "staging.json"), staging);
}

export function readStaging(directory: string): readonly string[] {
  return readJson<string[]>(join(directory, "staging.json")) ?? [];
}

/** Whose logs or spill files a directory holds: those of a running session are not old, whatever their name says. */
export const OWNER_FILE = "owner.json";

export function writeOwner(directory: string, owner: ProcessIdentity): void {
  replaceFile(join(directory, OWNER_FILE), owner);
}

export function readOwner(directory: string): ProcessIdentity | null {
  return readJson<ProcessIdentity>(join(directory, OWNER_FILE));
}

function replaceFile(path: string, content: unknown): void {
  writeFileSync(`${path}.new`, JSON.stringify(content), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function readJson<T>(path: string): T | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as T;
  } catch (error) {
    // Half a file, of a disk that was full, says as little as none.
    if ((error as NodeJS.ErrnoException).code === "ENOENT" || error instanceof SyntaxError) return null;
    throw error;
  }
}

export function arenaGone(path: string): StoreError {
  return new StoreError(
    `The store's file ${path} was removed while the session ran: a worker that ended cannot be replaced. Start a new session, ` +
      "with a localDirectory that nobody clears away.",
  );
}
