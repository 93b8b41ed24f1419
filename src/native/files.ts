/**
 * File calls that Node lacks: reserving and freeing disk space inside a file, and dropping pages from the page cache
 * after a write. Linux only.
 */
import { StoreError } from "../errors/index.ts";
import { lastErrno } from "./foreign.ts";
import { errnoName, fromC, isLinux } from "./libc.ts";

const FALLOC_KEEP_SIZE = 1;
const FALLOC_PUNCH_HOLE = 2;
const EINTR = 4;
const EIO = 5;
/** EINVAL, ESPIPE, ENOSYS, EOPNOTSUPP: the file system or the system lacks the call. */
const NOT_HERE: ReadonlySet<number> = new Set([22, 29, 38, 95]);
const EOPNOTSUPP = 95;
const PAGE = 4096;
/** Waits for writes under way, writes the rest, and waits for that. */
const SYNC_FILE_RANGE_ALL = 7;
const POSIX_FADV_DONTNEED = 4;

const fallocate = fromC<[number, number, number, number], number>(
  "int fallocate(int fd, int mode, int64 offset, int64 length)",
);
const posixFallocate = fromC<[number, number, number], number>(
  "int posix_fallocate(int fd, int64 offset, int64 length)",
);
const syncFileRange = fromC<[number, number, number, number], number>(
  "int sync_file_range(int fd, int64 offset, int64 length, uint32 flags)",
);
const posixFadvise = fromC<[number, number, number, number], number>(
  "int posix_fadvise(int fd, int64 offset, int64 length, int advice)",
);

function needsLinux(what: string): void {
  if (!isLinux) throw new StoreError(`${what} needs Linux; this is ${process.platform}.`);
}

/** Retries a call that a signal interrupted. Returns the errno, or 0. */
function attempt(call: () => number): number {
  for (;;) {
    if (call() === 0) return 0;
    const code = lastErrno();
    if (code !== EINTR) return code;
  }
}

/**
 * Makes sure that writing to this range of a file cannot run out of space. Touching a full tmpfs through a mapping is
 * SIGBUS; a failed reservation is an error that can be reported.
 */
export function reserveRange(fd: number, offset: number, length: number): void {
  needsLinux("Reserving space in a file");
  if (length === 0) return;
  let code = attempt(() => fallocate(fd, 0, offset, length));
  // Some file systems cannot reserve space. glibc then writes zeros, which is slower but has the same effect.
  if (code === EOPNOTSUPP) code = posixFallocate(fd, offset, length);
  if (code !== 0) {
    throw new StoreError(
      `${length} bytes at ${offset} could not be reserved: ${errnoName(code)}${
        errnoName(code) === "ENOSPC" ? " (the device is full: free space there, or put the store elsewhere)" : ""
      }.`,
    );
  }
}

/** Gives the space of this range back to the file system. The range reads as zeros afterwards. */
export function punchHole(fd: number, offset: number, length: number): void {
  needsLinux("Punching a hole into a file");
  if (length === 0) return;
  const code = attempt(() => fallocate(fd, FALLOC_PUNCH_HOLE | FALLOC_KEEP_SIZE, offset, length));
  if (code !== 0) {
    throw new StoreError(`${length} bytes at ${offset} could not be given back: ${errnoName(code)}.`);
  }
}

/**
 * Writes a range to the disk and drops it from the page cache, off the event loop. Returns the error's name, or null.
 * Advice alone skips pages that are not written yet (a quarter, as measured). Where the calls do not exist, nothing is
 * dropped: still correct, but it uses more cache.
 */
export async function writeOutAndDrop(fd: number, offset: number, length: number): Promise<string | null> {
  if (!isLinux) return null;
  if ((await syncFileRange.onThread(fd, offset, length, SYNC_FILE_RANGE_ALL)) !== 0) {
    // The errno of the other thread is unknown. Asking again on this thread returns it, unless the system reports such
    // an error only once.
    const code = attempt(() => syncFileRange(fd, offset, length, SYNC_FILE_RANGE_ALL)) || EIO;
    if (!NOT_HERE.has(code)) return errnoName(code);
  }
  return dropPages(fd, offset, length);
}

/** Drops pages that were read or written out (length 0: to the end), including pages that the range covers in part. */
export async function dropPages(fd: number, offset: number, length: number): Promise<string | null> {
  if (!isLinux) return null;
  const start = Math.floor(offset / PAGE) * PAGE;
  const end = length === 0 ? start : Math.ceil((offset + length) / PAGE) * PAGE;
  const code = await posixFadvise.onThread(fd, start, end - start, POSIX_FADV_DONTNEED);
  return code === 0 || NOT_HERE.has(code) ? null : errnoName(code);
}
