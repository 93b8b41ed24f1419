/**
 * What a running session keeps on disk so that the next one could clean up after it: who it is (pids.json) and where
 * its jobs stage files (staging.json); and, next to its logs, whose they are (owner.json). Each is written whole or not at all.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessIdentity } from "./process-identity.ts";

export interface SessionRecord {
  readonly supervisor: ProcessIdentity;
  readonly workers: readonly ProcessIdentity[];
  /** The arena's path; null before there is one. */
  readonly arena: string | null;
}

/** Nobody else can reach the socket in it. */
export function makeSessionDirectory(sessions: string, directory: string): void {
  mkdirSync(sessions, { recursive: true, mode: 0o700 });
  mkdirSync(directory, { mode: 0o700 });
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

/** Whose logs a directory holds: those of a running session are not old, whatever their name says. */
export function writeOwner(directory: string, owner: ProcessIdentity): void {
  replaceFile(join(directory, "owner.json"), owner);
}

export function readOwner(directory: string): ProcessIdentity | null {
  return readJson<ProcessIdentity>(join(directory, "owner.json"));
}

function replaceFile(path: string, content: unknown): void {
  writeFileSync(`${path}.new`, JSON.stringify(content), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function readJson<T>(path: string): T | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
