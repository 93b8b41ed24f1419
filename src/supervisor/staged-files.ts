/**
 * Removes a staging directory that a killed session has left among a user's files, where other users may also write.
 * The directory is opened first, and only the opened directory is removed: a real directory of ours with the name and
 * the mark of staging. If another user replaces it by a link or another directory, only the name stays.
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
/** Another process may use it, or it may be gone. */
const STAYS: ReadonlySet<string> = new Set(["ENOENT", "ENOTEMPTY", "EEXIST", "ENOTDIR"]);

export function removeStaging(path: string): void {
  if (!isAbsolute(path) || !isStagingName(path)) return;
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch {
    // Gone, or not a directory: not ours.
    return;
  }
  try {
    if (!isOurs(fstatSync(fd))) return;
    const here = existsSync(`/proc/self/fd/${fd}`) ? `/proc/self/fd/${fd}` : path;
    if (isMarked(here)) empty(here);
    // A directory without a mark is removed only if it is empty: its worker may have ended before it wrote the mark.
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

/** Removes the old data of a replaced directory, which is now at the path of the staged one. */
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

/** The mark is removed last, so that a later session can continue after an interruption. */
function empty(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (name !== STAGING_MARK) rmSync(join(directory, name), { recursive: true, force: true });
  }
  rmSync(join(directory, STAGING_MARK), { force: true });
}
