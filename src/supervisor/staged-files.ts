/**
 * Removes a staging directory that a killed session has left among a user's files, where others may have more to say
 * than in the directories of sessions. It is opened first, and what is removed is what was opened: a real directory of
 * ours with the name and the mark of staging. Somebody who puts another one in its place, a link to it or one that we
 * own, changes nothing but that the name stays.
 */
import {
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { isAbsolute, join } from "node:path";
import { isOurs, isStagingName, STAGING_MARK } from "../files/index.ts";
import { type ReplacedDirectory, removeEmptyDirectories } from "./session-files.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
/** Somebody may use it meanwhile, or it may be gone. */
const STAYS: ReadonlySet<string> = new Set(["ENOENT", "ENOTEMPTY", "EEXIST", "ENOTDIR"]);

export function removeStaging(path: string): void {
  if (!isAbsolute(path) || !isStagingName(path)) return;
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch {
    // Gone, or no directory: none that we made.
    return;
  }
  try {
    if (!isOurs(fstatSync(fd))) return;
    const here = existsSync(`/proc/self/fd/${fd}`) ? `/proc/self/fd/${fd}` : path;
    if (isMarked(here)) empty(here);
    // One without a mark goes only where it is empty: a worker may have ended before it had set it.
    rmdirSync(path);
  } catch (error) {
    if (!STAYS.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
  } finally {
    closeSync(fd);
  }
}

export function identityOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

/**
 * The old data of a directory that a staged one has replaced: the same directory, found in the place of the staged one.
 */
export function removeReplaced({ path, identity, files, folders }: ReplacedDirectory): void {
  if (!isAbsolute(path) || !isStagingName(path)) return;
  const there = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (there?.isDirectory() !== true || identityOf(there) !== identity) return;
  for (const file of files) rmSync(join(path, file), { force: true });
  for (const folder of [...folders].reverse()) removeEmptyDirectories(join(path, folder));
  removeEmptyDirectories(path);
}

function isMarked(directory: string): boolean {
  const stats = lstatSync(join(directory, STAGING_MARK), { throwIfNoEntry: false });
  return stats?.isFile() === true && isOurs(stats);
}

/** The mark last: who is interrupted leaves what the next one can go on with. */
function empty(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (name !== STAGING_MARK) rmSync(join(directory, name), { recursive: true, force: true });
  }
  rmSync(join(directory, STAGING_MARK), { force: true });
}
