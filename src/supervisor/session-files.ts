/**
 * Files that a running session keeps so that a later session can clean up after it: its processes (pids.json), where
 * its jobs stage files (staging.json), which old data they are about to remove (replaced.json), the owner of logs and
 * of spill files in other directories (owner.json), and how to reach the session (attach.json). Each file is written
 * whole or not at all. A file is trusted only if this user wrote it and it has the expected shape.
 */
import { renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { StoreError } from "../errors/index.ts";
import { readPrivateFile } from "../files/index.ts";
import { isIdentity, type ProcessIdentity } from "./process-identity.ts";

export interface SessionRecord {
  readonly supervisor: ProcessIdentity;
  readonly workers: readonly ProcessIdentity[];
  /** Path of the arena; null before it exists. */
  readonly arena: string | null;
  readonly spill: readonly string[];
}

const LEFT_ALONE: ReadonlySet<string> = new Set(["ENOTEMPTY", "EEXIST", "ENOENT", "ENOTDIR"]);

/**
 * Removes empty directories from `directory` outwards, up to and including `outermost`. A session that starts at this
 * moment makes them again.
 */
export function removeEmptyDirectories(directory: string, outermost: string = directory): void {
  for (let at = directory; at.startsWith(outermost); at = dirname(at)) {
    try {
      rmdirSync(at);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      // Others use it, it is already gone, or it is a link of the user. Other errors are logged, and do not stop the
      // end of the session.
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
 * A directory that a staged one replaces: after the exchange, its old content is at the staged path, and only entries
 * that were checked are removed.
 */
export interface ReplacedDirectory {
  /** Path of the staged directory; after the exchange, of the old one. */
  readonly path: string;
  /** Device and inode of the old directory. */
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

/** The owner of a directory with logs or spill files: those of a running session are kept, whatever their age. */
export const OWNER_FILE = "owner.json";

export function writeOwner(directory: string, owner: ProcessIdentity): void {
  replaceFile(join(directory, OWNER_FILE), owner);
}

export function readOwner(directory: string): ProcessIdentity | null {
  const owner = readJson(join(directory, OWNER_FILE));
  return isIdentity(owner) ? owner : null;
}

/** How a program of the same user reaches a running session: with its logs, which only that user can read. */
interface Attachment {
  /** The session's directory, with the socket in it. */
  readonly directory: string;
  /** Every connection to the socket must show it. */
  readonly token: string;
  /** The address of the dashboard; null: there is none. */
  readonly dashboard: string | null;
}

const ATTACHMENT = "attach.json";

export function writeAttachment(logs: string, attachment: Attachment): void {
  replaceFile(join(logs, ATTACHMENT), attachment);
}

/** Null: the session has ended, or has no such file yet. */
export function readAttachment(logs: string): Attachment | null {
  const attachment = readJson(join(logs, ATTACHMENT));
  return isAttachment(attachment) ? attachment : null;
}

export function removeAttachment(logs: string): void {
  try {
    rmSync(join(logs, ATTACHMENT), { force: true });
  } catch (error) {
    // It must not stop the end of the session; without the socket it opens nothing.
    process.stderr.write(`${(error as Error).message}\n`);
  }
}

function isAttachment(value: unknown): value is Attachment {
  if (typeof value !== "object" || value === null) return false;
  const { directory, token, dashboard } = value as Partial<Record<keyof Attachment, unknown>>;
  return (
    typeof directory === "string" && typeof token === "string" && (dashboard === null || typeof dashboard === "string")
  );
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
    // An incomplete file (of a full disk) counts as missing.
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
