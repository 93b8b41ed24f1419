/** Pipes between threads of this process, and sending bytes of a file into one without passing through JavaScript. */
import { StoreError } from "../errors/index.ts";
import { lastErrno } from "./foreign.ts";
import { errnoName, fromC, isLinux } from "./libc.ts";
import { pin } from "./memory.ts";

const O_CLOEXEC = 0o2000000;
const F_SETPIPE_SZ = 1031;
const PIPE_BYTES = 2 ** 20;
/** The most that one call sends. */
const MOST_AT_ONCE = 2 ** 30;
const EINTR = 4;
const EINVAL = 22;

const pipe = fromC<[number], number>("int pipe(uint64 ends)");
const pipe2 = fromC<[number, number], number>("int pipe2(uint64 ends, int flags)");
const fcntl = fromC<[number, number, number], number>("int fcntl(int fd, int command, int value)");
const sendfile = fromC<[number, number, number, number], number>(
  "int64 sendfile(int to, int from, uint64 offset, uint64 count)",
);

/** The system buffers what is written until it is read, up to a mebibyte. Children do not inherit the pipe. */
export function openPipe(): { readonly readEnd: number; readonly writeEnd: number } {
  const ends = pin(8);
  if ((isLinux ? pipe2(ends.address, O_CLOEXEC) : pipe(ends.address)) !== 0) {
    throw new StoreError(`A pipe could not be opened: ${errnoName()}.`);
  }
  const [readEnd = -1, writeEnd = -1] = new Int32Array(ends.buffer, 0, 2);
  // If the system does not allow this size, the pipe keeps its default size, which is only slower.
  if (isLinux) fcntl(writeEnd, F_SETPIPE_SZ, PIPE_BYTES);
  return { readEnd, writeEnd };
}

/**
 * Sends bytes [start, end) of a file and waits for the reader of the pipe. Returns how many bytes were sent: fewer if
 * the file is shorter. Null if files of this kind cannot be sent in this way. Throws like `fs.writeSync` if the other
 * end is closed.
 */
export function sendFile(to: number, from: number, start: number, end: number): number | null {
  if (!isLinux) return null;
  const offset = pin(8);
  const at = new BigInt64Array(offset.buffer, 0, 1);
  at[0] = BigInt(start);
  let sent = 0;
  while (start + sent < end) {
    const count = sendfile(to, from, offset.address, Math.min(MOST_AT_ONCE, end - start - sent));
    if (count === 0) break;
    if (count > 0) {
      sent += count;
      continue;
    }
    const code = lastErrno();
    if (code === EINTR) continue;
    if (code === EINVAL && sent === 0) return null;
    throw Object.assign(new Error(`sendfile: ${errnoName(code)}`), { code: errnoName(code) });
  }
  return sent;
}
