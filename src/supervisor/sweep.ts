/**
 * Removes the remains of sessions whose supervisor was killed: arena, staged files, directory, and surviving workers
 * with everything that they started. Running and starting sessions are left alone. A name proves nothing: records are
 * read only in directories that are ours and closed to others. A process is killed only if its start time, user and
 * mark are those of a worker of that session. Only entries of such directories and staging directories
 * (staged-files.ts) are removed.
 */
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { isOurs, PrivateDirectory, using } from "../files/index.ts";
import { arenaName, SHARED_MEMORY } from "../store/index.ts";
import { isRoot, rootsIn } from "./places.ts";
import { isAlive, isOurProcess } from "./process-identity.ts";
import { isMarked, kill, killMarked } from "./process-tree.ts";
import {
  readOwner,
  readRecord,
  readReplaced,
  readStaging,
  removeEmptyDirectories,
  type SessionRecord,
} from "./session-files.ts";
import { removeReplaced, removeStaging } from "./staged-files.ts";

/** A session writes its record within this time: an older directory without a record is abandoned. */
const NEWBORN_MS = 60_000;

/** Returns the sessions that were cleaned up. */
export function sweep(localDirectory: string, ownSession: string): string[] {
  return rootsIn(localDirectory).flatMap((path) => {
    const swept = inPrivate(path, (root) => sweepRoot(root, ownSession)) ?? [];
    if (swept.length > 0) removeEmptyDirectories(path);
    return swept;
  });
}

/** Sessions that have left something here, and run no more. */
export function abandoned(localDirectory: string): string[] {
  return rootsIn(localDirectory).flatMap(
    (path) => inPrivate(path, (root) => directoriesIn(root).filter((session) => isAbandonedIn(root, session))) ?? [],
  );
}

/** Whether these local directories have anything of the session. */
export function remains(localDirectories: readonly string[], session: string): boolean {
  return localDirectories.some((local) =>
    rootsIn(local).some((path) => inPrivate(path, (root) => directoriesIn(root).includes(session)) === true),
  );
}

function sweepRoot(root: PrivateDirectory, ownSession: string): string[] {
  return directoriesIn(root).filter((session) => {
    if (session === ownSession) return false;
    try {
      return sweepOne(root, session);
    } catch (error) {
      // A failed clean-up must not prevent a start; the remains stay for the next session, and the log has the error.
      process.stderr.write(`The remains of session ${session} could not be removed: ${(error as Error).message}\n`);
      return false;
    }
  });
}

function sweepOne(root: PrivateDirectory, session: string): boolean {
  const isDead = using(root.inside(session), (directory) => {
    if (!isAbandoned(directory)) return false;
    const record = readRecord(directory.at(""));
    if (record !== null) {
      removeProcesses(session, record);
      for (const old of readReplaced(directory.at(""))) removeReplaced(old);
      for (const path of readStaging(directory.at(""))) removeStaging(path);
      removeSpilled(session, record);
    }
    return true;
  });
  if (!isDead) return false;
  // Also for a session that was killed before it recorded its arena.
  removeArenaOf(session);
  rmSync(root.at(session), { recursive: true, force: true });
  return true;
}

function isAbandonedIn(root: PrivateDirectory, session: string): boolean {
  try {
    return using(root.inside(session), isAbandoned);
  } catch {
    // It is gone, or cannot be trusted.
    return false;
  }
}

function isAbandoned(directory: PrivateDirectory): boolean {
  // Only the first local directory of a session has its record; the others have a file that names the owner.
  const owner = readRecord(directory.at(""))?.supervisor ?? readOwner(directory.at(""));
  return owner === null ? ageOf(directory) >= NEWBORN_MS : !isAlive(owner);
}

function removeProcesses(session: string, record: SessionRecord): void {
  for (const worker of record.workers) {
    if (isOurProcess(worker) && isMarked(worker.pid, session)) kill(worker.pid);
  }
  killMarked(session);
}

function removeSpilled(session: string, record: SessionRecord): void {
  for (const spill of record.spill) {
    const path = dirname(dirname(spill));
    if (!isAbsolute(path) || !isRoot(path) || basename(dirname(spill)) !== session) continue;
    inPrivate(path, (root) => rmSync(root.at(session), { recursive: true, force: true }));
    removeEmptyDirectories(path);
  }
}

function removeArenaOf(session: string): void {
  const path = join(SHARED_MEMORY, arenaName(session));
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() === true && isOurs(stats)) rmSync(path, { force: true });
}

function ageOf(directory: PrivateDirectory): number {
  return Date.now() - directory.stats().mtimeMs;
}

/** Null if the directory does not exist, or cannot be trusted. */
function inPrivate<Result>(path: string, use: (directory: PrivateDirectory) => Result): Result | null {
  let directory: PrivateDirectory;
  try {
    directory = PrivateDirectory.open(path);
  } catch {
    return null;
  }
  return using(directory, use);
}

function directoriesIn(root: PrivateDirectory): string[] {
  return readdirSync(root.at(""), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}
