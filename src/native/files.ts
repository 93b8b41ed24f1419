/** What Node's fs lacks: disk space reserved or given back inside a file, and pages dropped after a write. Linux. */
import { StoreError } from "../errors/index.ts";
import { lastErrno } from "./foreign.ts";
import { errnoName, fromC, isLinux } from "./libc.ts";

const FALLOC_KEEP_SIZE = 1;
const FALLOC_PUNCH_HOLE = 2;
const EINTR = 4;
const EIO = 5;
/** EINVAL, ESPIPE, ENOSYS, EOPNOTSUPP: a file system or kernel without such a call. */
const NOT_HERE: ReadonlySet<number> = new Set([22, 29, 38, 95]);
const EOPNOTSUPP = 95;
const PAGE = 4096;
/** Wait for what is being written, write the rest, wait for it. */
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

/** Retries what a signal interrupted; the errno, or 0. */
function attempt(call: () => number): number {
  for (;;) {
    if (call() === 0) return 0;
    const code = lastErrno();
    if (code !== EINTR) return code;
  }
}

/**
 * Makes sure that writing to this range of a file cannot run out of space: touching a full tmpfs through a mapping is
 * SIGBUS, reserving it first is an error that can be told.
 */
export function reserveRange(fd: number, offset: number, length: number): void {
  needsLinux("Reserving space in a file");
  if (length === 0) return;
  let code = attempt(() => fallocate(fd, 0, offset, length));
  // Some file systems cannot; glibc then writes zeros, which is as good and slower.
  if (code === EOPNOTSUPP) code = posixFallocate(fd, offset, length);
  if (code !== 0) {
    throw new StoreError(
      `${length} bytes at ${offset} could not be reserved: ${errnoName(code)}${
        errnoName(code) === "ENOSPC" ? " (the device is full: free space there, or put the store elsewhere)" : ""
      }.`,
    );
  }
}

/** Gives the space of this range back to the file system; it reads as zeros afterwards. */
export function punchHole(fd: number, offset: number, length: number): void {
  needsLinux("Punching a hole into a file");
  if (length === 0) return;
  const code = attempt(() => fallocate(fd, FALLOC_PUNCH_HOLE | FALLOC_KEEP_SIZE, offset, length));
  if (code !== 0) {
    throw new StoreError(`${length} bytes at ${offset} could not be given back: ${errnoName(code)}.`);
  }
}

/**
 * Writes a range out and drops it from the page cache, off the event loop; answers with the
 * error's name, or null.
 * Advice alone leaves what is not written yet (a quarter, as measured). Where there are no such calls nothing is
 * dropped, which is correct and uses more cache.
 */
export async function writeOutAndDrop(fd: number, offset: number, length: number): Promise<string | null> {
  if (!isLinux) return null;
  if ((await syncFileRange.onThread(fd, offset, length, SYNC_FILE_RANGE_ALL)) !== 0) {
    // The thread's errno cannot be had; asking again here tells it, unless it was one that is told only once.
    const code = attempt(() => syncFileRange(fd, offset, length, SYNC_FILE_RANGE_ALL)) || EIO;
    if (!NOT_HERE.has(code)) return errnoName(code);
  }
  return dropPages(fd, offset, length);
}

/** Drops what is read or written out already (length 0: to the end), partly covered pages too. */
export async function dropPages(fd: number, offset: number, length: number): Promise<string | null> {
  if (!isLinux) return null;
  const start = Math.floor(offset / PAGE) * PAGE;
  const end = length === 0 ? start : Math.ceil((offset + length) / PAGE) * PAGE;
  const code = await posixFadvise.onThread(fd, start, end - start, POSIX_FADV_DONTNEED);
  return code === 0 || NOT_HERE.has(code) ? null : errnoName(code);
}
