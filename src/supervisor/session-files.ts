/**
 * What a running session keeps on disk so that the next one could clean up after it: who it is (pids.json) and where
 * its jobs stage files (staging.json), which old data they are about to remove (replaced.json); and, next to its logs
 * and its spill files elsewhere, whose they are (owner.json). Each is written whole or not at all. What is read is
 * believed only where this user wrote it, and only as far as it has the shape that is written here.
 */
import { renameSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { StoreError } from "../errors/index.ts";
import { readPrivateFile } from "../files/index.ts";
import { isIdentity, type ProcessIdentity } from "./process-identity.ts";

export interface SessionRecord {
  readonly supervisor: ProcessIdentity;
  readonly workers: readonly ProcessIdentity[];
  /** The arena's path; null before there is one. */
  readonly arena: string | null;
  readonly spill: readonly string[];
}

const LEFT_ALONE: ReadonlySet<string> = new Set(["ENOTEMPTY", "EEXIST", "ENOENT", "ENOTDIR"]);

/**
 * Removes empty directories from `directory` outwards, up to and with `outermost`. Who starts at this moment makes them
 * again.
 */
export function removeEmptyDirectories(directory: string, outermost: string = directory): void {
  for (let at = directory; at.startsWith(outermost); at = dirname(at)) {
    try {
      rmdirSync(at);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      // Others use it, it is gone already, or a link of the user's; anything else is no reason not to end, but worth a
      // line in the log.
      if (!LEFT_ALONE.has(code ?? "")) process.stderr.write(`${message}\n`);
      return;
    }
  }
}

export function writeRecord(directory: string, record: SessionRecord): void {
  replaceFile(join(directory, "pids.json"), record);
}

export function readRecord(directory: string): SessionRecord | null {
  const record = readJson(join(directory, "pids.json"));
  return isRecord(record) ? record : null;
}

export function writeStaging(directory: string, staging: readonly string[]): void {
  replaceFile(join(directory, "staging.json"), staging);
}

export function readStaging(directory: string): readonly string[] {
  const staging = readJson(join(directory, "staging.json"));
  return areTexts(staging) ? staging : [];
}

/**
 * A directory whose place a staged one takes: it is then where that was, and nothing but what was judged goes from it.
 */
export interface ReplacedDirectory {
  /** Of the staged one, and after the exchange of the old one. */
  readonly path: string;
  /** Device and inode of the old one. */
  readonly identity: string;
  readonly files: readonly string[];
  readonly folders: readonly string[];
}

export function writeReplaced(directory: string, replaced: readonly ReplacedDirectory[]): void {
  replaceFile(join(directory, "replaced.json"), replaced);
}

export function readReplaced(directory: string): readonly ReplacedDirectory[] {
  const replaced = readJson(join(directory, "replaced.json"));
  return Array.isArray(replaced) ? replaced.filter(isReplaced) : [];
}

function isReplaced(value: unknown): value is ReplacedDirectory {
  if (typeof value !== "object" || value === null) return false;
  const { path, identity, files, folders } = value as Partial<Record<keyof ReplacedDirectory, unknown>>;
  return typeof path === "string" && typeof identity === "string" && areTexts(files) && areTexts(folders);
}

/** Whose logs or spill files a directory holds: those of a running session are not old, whatever their name says. */
export const OWNER_FILE = "owner.json";

export function writeOwner(directory: string, owner: ProcessIdentity): void {
  replaceFile(join(directory, OWNER_FILE), owner);
}

export function readOwner(directory: string): ProcessIdentity | null {
  const owner = readJson(join(directory, OWNER_FILE));
  return isIdentity(owner) ? owner : null;
}

function replaceFile(path: string, content: unknown): void {
  writeFileSync(`${path}.new`, JSON.stringify(content), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function readJson(path: string): unknown {
  const text = readPrivateFile(path);
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    // Half a file, of a disk that was full, says as little as none.
    return null;
  }
}

function isRecord(value: unknown): value is SessionRecord {
  if (typeof value !== "object" || value === null) return false;
  const { supervisor, workers, arena, spill } = value as Partial<Record<keyof SessionRecord, unknown>>;
  const areWorkers = Array.isArray(workers) && workers.every(isIdentity);
  return isIdentity(supervisor) && areWorkers && (arena === null || typeof arena === "string") && areTexts(spill);
}

function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

export function arenaGone(path: string): StoreError {
  return new StoreError(
    `The store's file ${path} was removed while the session ran: a worker that ended cannot be replaced. Start a new session, ` +
      "with a localDirectory that no program cleans up.",
  );
}
