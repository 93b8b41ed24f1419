/**
 * Keeps spill files out of the page cache, which is the memory that spilling is to make room for. Loads the C boundary
 * at the first spill, and once: importing again costs up to 0.3 ms each time where a loader is installed.
 */
import type { FileHandle } from "node:fs/promises";
import type { Bytes } from "../../protocol/index.ts";

type Native = typeof import("../../native/index.ts");

let loading: Promise<Native> | null = null;

function native(): Promise<Native> {
  loading ??= import("../../native/index.ts");
  return loading;
}

/** Waits until the range is on the disk, then drops it. */
export async function writeOut(file: FileHandle, offset: Bytes, length: Bytes): Promise<void> {
  const failed = await (await native()).writeOutAndDrop(file.fd, offset, length);
  if (failed !== null) throw new Error(`${failed}: writing ${length} bytes out failed`);
}

/** Best effort: what stays in the cache is right, too. Length 0 is to the end. */
export async function drop(file: FileHandle, offset: Bytes, length: Bytes): Promise<void> {
  await (await native()).dropPages(file.fd, offset, length);
}
