/** Reads small files that only this user can have written. Opening never blocks (on a FIFO, for example). */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { isOurs } from "./private-directory.ts";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const WRITABLE_BY_OTHERS = 0o022;
/** A larger file cannot be ours. */
const MOST_BYTES = 4 << 20;

/**
 * The text; null if the file is missing, a link, not a regular file, owned by another user, or has a second hard link.
 */
export function readPrivateFile(path: string, mostBytes = MOST_BYTES): string | null {
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const stats = fstatSync(fd);
    const isPrivate = stats.isFile() && isOurs(stats) && (stats.mode & WRITABLE_BY_OTHERS) === 0 && stats.nlink === 1;
    return isPrivate && stats.size <= mostBytes ? readFileSync(fd, "utf8") : null;
  } finally {
    closeSync(fd);
  }
}
