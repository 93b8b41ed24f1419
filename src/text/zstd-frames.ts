/** Where the frames of a zstd file end (RFC 8878): told from the heads of its blocks, without reading their content. */
import type { FileHandle } from "node:fs/promises";

const FRAME = 0xfd2fb528;
const SKIPPABLE = 0x184d2a50;
const WINDOW_BYTES = 1;
const DICTIONARY_BYTES = [0, 1, 2, 4];
const CONTENT_SIZE_BYTES = [0, 2, 4, 8];
const CHECKSUM_BYTES = 4;
const REPEATED = 1;
const RESERVED = 3;

/**
 * What begins at a place of the file: a frame, one that unpackers skip, or none. `end` is beyond the file if that ends
 * too early.
 */
type Frame = { readonly kind: "data" | "skipped"; readonly end: number } | { readonly kind: "none" };

export async function frameEnd(file: FileHandle, start: number, signal?: AbortSignal): Promise<Frame> {
  const head = await bytesAt(file, start, 9);
  const magic = head.readUInt32LE(0);
  if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE) return { kind: "skipped", end: start + 8 + head.readUInt32LE(4) };
  return magic === FRAME ? { kind: "data", end: await dataEnd(file, start, head, signal) } : { kind: "none" };
}

async function dataEnd(file: FileHandle, start: number, head: Buffer, signal?: AbortSignal): Promise<number> {
  const descriptor = head[4] ?? 0;
  const isSingle = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 && isSingle ? 1 : (CONTENT_SIZE_BYTES[sizeFlag] ?? 0);
  let at = start + 5 + (isSingle ? 0 : WINDOW_BYTES) + (DICTIONARY_BYTES[descriptor & 3] ?? 0) + sizeBytes;
  for (let isLast = false; !isLast && !(signal?.aborted ?? false); ) {
    const block = await bytesAt(file, at, 3);
    const header = block.readUIntLE(0, 3);
    const kind = (header >> 1) & 3;
    isLast = (header & 1) === 1;
    // Zeros are read beyond the end, and look like an empty block that is not the last.
    if (kind === RESERVED || (header === 0 && (await file.read(Buffer.alloc(1), 0, 1, at)).bytesRead === 0)) {
      return Number.POSITIVE_INFINITY;
    }
    at += 3 + (kind === REPEATED ? 1 : header >> 3);
  }
  return at + ((descriptor & 4) === 0 ? 0 : CHECKSUM_BYTES);
}

/** Bytes beyond the end of the file are zeros. */
async function bytesAt(file: FileHandle, at: number, count: number): Promise<Buffer> {
  const bytes = Buffer.alloc(count);
  await file.read(bytes, 0, count, at);
  return bytes;
}
