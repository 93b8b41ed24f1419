/**
 * Finds what sessions left behind whose supervisor was killed, and removes it: arena, staged files, directory,
 * and workers that outlived it. A session that still runs, or is just starting, is left alone.
 */
import { readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { arenaName } from "../store/index.ts";
import { isAlive } from "./process-identity.ts";
import { readRecord, readStaging } from "./session-files.ts";

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
  return swept;
}

function sweepOne(directory: string): boolean {
  const record = readRecord(directory);
  if (record === null) {
    const age = ageOf(directory);
    if (age === null || age < NEWBORN_MS) return false;
  } else {
    if (isAlive(record.supervisor)) return false;
    for (const worker of record.workers) if (isAlive(worker)) process.kill(worker.pid, "SIGKILL");
    // Only what bears the session's name: a record is a file, and files can be wrong.
    if (record.arena !== null && basename(record.arena) === arenaName(basename(directory))) {
      rmSync(record.arena, { force: true });
    }
    for (const staging of readStaging(directory)) rmSync(staging, { recursive: true, force: true });
    for (const spill of record.spill) {
      const owner = dirname(spill);
      if (basename(owner) !== basename(directory)) continue;
      rmSync(owner, { recursive: true, force: true });
    }
  }
  rmSync(directory, { recursive: true, force: true });
  return true;
}

function ageOf(directory: string): number | null {
  const stats = statSync(directory, { throwIfNoEntry: false });
  return stats === undefined ? null : Date.now() - stats.mtimeMs;
}

function directoriesIn(sessions: string): string[] {
  return readdirSync(sessions, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}
