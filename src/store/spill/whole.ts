/** Node's file calls, completed: a read or write that Node cut short is continued until it is whole. */
import type { FileHandle } from "node:fs/promises";
import type { Bytes } from "../../protocol/index.ts";

/** Returns how many bytes were read: fewer than asked for only at the end of the file. */
export async function readFully(handle: FileHandle, into: Uint8Array, offset: Bytes): Promise<Bytes> {
  let done = 0;
  while (done < into.length) {
    const { bytesRead } = await handle.read(into, done, into.length - done, offset + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return done;
}

export async function writeFully(handle: FileHandle, bytes: Uint8Array, offset: Bytes): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, offset + done);
    done += bytesWritten;
  }
}
