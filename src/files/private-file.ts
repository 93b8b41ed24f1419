/**
 * Small files that this user wrote and nobody else can have changed. Opening never waits (for the writer of a FIFO,
 * say).
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { isOurs } from "./private-directory.ts";

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const WRITABLE_BY_OTHERS = 0o022;
/** What is larger is none of ours. */
const MOST_BYTES = 4 << 20;

/**
 * Its text; null where there is none, and where it is a link, no ordinary file, somebody else's, or has another name
 * elsewhere.
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
