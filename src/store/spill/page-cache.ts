/**
 * Keeps spill files out of the page cache, which would use the memory that spilling frees. Loads the C boundary at the
 * first spill, and only once: where a module loader is installed, each repeated import costs up to 0.3 ms.
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

/** Best effort: bytes that stay in the cache are still correct. Length 0 means to the end. */
export async function drop(file: FileHandle, offset: Bytes, length: Bytes): Promise<void> {
  await (await native()).dropPages(file.fd, offset, length);
}
