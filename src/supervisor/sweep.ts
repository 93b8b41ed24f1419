/**
 * Finds what sessions left behind whose supervisor was killed, and removes it: arena, staged files, directory,
 * and workers that outlived it, with what they had started. A session that still runs, or is just starting, is left alone.
 */
import { readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { arenaName, SHARED_MEMORY } from "../store/index.ts";
import { isAlive } from "./process-identity.ts";
import { killTrees } from "./process-tree.ts";
import { readOwner, readRecord, readStaging, removeEmptyDirectories, type SessionRecord } from "./session-files.ts";

/** A directory without a record this old is no session that is about to write one. */
const NEWBORN_MS = 60_000;

/** The sessions that were cleaned up after. */
export function sweep(sessions: string, ownSession: string): string[] {
  const swept: string[] = [];
  for (const session of directoriesIn(sessions)) {
    if (session === ownSession) continue;
    try {
      if (sweepOne(join(sessions, session))) swept.push(session);
    } catch (error) {
      // Somebody else's remains are no reason not to start; they stay for the next one, and in the log.
      process.stderr.write(`The remains of session ${session} could not be removed: ${(error as Error).message}\n`);
    }
  }
  if (swept.length > 0) removeEmptyDirectories(sessions);
  return swept;
}

function sweepOne(directory: string): boolean {
  const record = readRecord(directory);
  // Only the first of a session's local directories has its record; in the others is written whose they are.
  const owner = record?.supervisor ?? readOwner(directory);
  if (owner === null) {
    const age = ageOf(directory);
    if (age === null || age < NEWBORN_MS) return false;
  } else if (isAlive(owner)) return false;
  if (record !== null) removeRecorded(directory, record);
  // Also of one that was killed before it wrote down that there is an arena.
  rmSync(join(SHARED_MEMORY, arenaName(basename(directory))), { force: true });
  rmSync(directory, { recursive: true, force: true });
  return true;
}

function removeRecorded(directory: string, record: SessionRecord): void {
  for (const worker of record.workers) if (isAlive(worker)) process.kill(worker.pid, "SIGKILL");
  killTrees([], basename(directory), null);
  // Only what bears the session's name: a record is a file, and files can be wrong.
  if (record.arena !== null && basename(record.arena) === arenaName(basename(directory))) {
    rmSync(record.arena, { force: true });
  }
  // Before the spill directories: the first of them lies in the directory that the list is in.
  for (const staging of readStaging(directory)) rmSync(staging, { recursive: true, force: true });
  for (const spill of record.spill) {
    const other = dirname(spill);
    if (basename(other) !== basename(directory)) continue;
    rmSync(other, { recursive: true, force: true });
    removeEmptyDirectories(dirname(other));
  }
}

function ageOf(directory: string): number | null {
  const stats = statSync(directory, { throwIfNoEntry: false });
  return stats === undefined ? null : Date.now() - stats.mtimeMs;
}

function directoriesIn(sessions: string): string[] {
  try {
    return readdirSync(sessions, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name);
  } catch (error) {
    // The last session has removed it, or there never was one.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
