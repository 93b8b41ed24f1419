/**
 * Checks whether the kernel gets all lines of a compressed file. The kernel reads a truncated file as if it ended
 * there, even in the middle of a row or a number, and it leaves out a last line that is too long. A gzip file must be
 * unpacked up to its checksum for this. A zstd file says where its blocks end, and is unpacked for its
 * last line alone, where Node can.
 */
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { PackedFile } from "../protocol/index.ts";
import { messageOf } from "../realm/index.ts";
import { LastLine, lastLineFault } from "./last-line.ts";
import { createZstdDecompress } from "./zstd.ts";

const PIECE = 2 ** 18;
const AGAIN = "Write or copy it again";

/** What is wrong with the file, and what to do; null if it is complete, or the check was aborted. */
export async function packedFault(file: PackedFile, signal: AbortSignal): Promise<string | null> {
  const fault = file.packing === "gzip" ? await gzipFault(file, signal) : await zstdFault(file, signal);
  return signal.aborted ? null : fault;
}

/** Words for zlib's errors. */
export function gzipWords(message: string): string {
  if (/header check|unknown compression/i.test(message)) {
    return 'it is not a gzip file. Give compression: "none", or the right one';
  }
  if (/unexpected end/i.test(message)) return `it was cut short: its packed data ends too early. ${AGAIN}`;
  return `it is a gzip file, but damaged (${message}). ${AGAIN}`;
}

async function gzipFault(file: PackedFile, signal: AbortSignal): Promise<string | null> {
  try {
    return await unpackedFault(file, createGunzip({ chunkSize: PIECE }), signal);
  } catch (error) {
    return gzipWords(messageOf(error));
  }
}

/** Throws the unpacker's error if the file cannot be unpacked. */
async function unpackedFault(
  { path, refusedLine }: PackedFile,
  unpacker: Transform,
  signal: AbortSignal,
): Promise<string | null> {
  const lastLine = new LastLine();
  const toMeasure = async (pieces: AsyncIterable<Uint8Array>) => {
    for await (const piece of pieces) {
      signal.throwIfAborted();
      if (refusedLine !== undefined) lastLine.push(piece);
    }
  };
  await pipeline(createReadStream(path, { highWaterMark: PIECE }), unpacker, toMeasure, { signal });
  return refusedLine === undefined ? null : lastLineFault(lastLine, refusedLine);
}

const FRAME = 0xfd2fb528;
const SKIPPABLE = 0x184d2a50;
const WINDOW_BYTES = 1;
const DICTIONARY_BYTES = [0, 1, 2, 4];
const CONTENT_SIZE_BYTES = [0, 2, 4, 8];
const CHECKSUM_BYTES = 4;
const REPEATED = 1;
const RESERVED = 3;

async function zstdFault(packed: PackedFile, signal: AbortSignal): Promise<string | null> {
  const fault = await zstdEndFault(packed.path, signal);
  if (fault !== null || packed.refusedLine === undefined || createZstdDecompress === undefined) return fault;
  try {
    return await unpackedFault(packed, createZstdDecompress(), signal);
  } catch (error) {
    return `${messageOf(error)}. It may be damaged`;
  }
}

/** Walks from block to block (RFC 8878) without reading their content. */
async function zstdEndFault(path: string, signal: AbortSignal): Promise<string | null> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    for (let at = 0; at < size && !signal.aborted; ) {
      const end = await frameEnd(file, at, signal);
      if (end === null) return at === 0 ? 'it is not a zstd file. Give compression: "none", or the right one' : null;
      if (end > size) return `it was cut short: its packed data ends too early. ${AGAIN}`;
      at = end;
    }
    return null;
  } finally {
    await file.close();
  }
}

/** The end of a frame, beyond the file if that ends too early; null if no frame begins here. */
async function frameEnd(file: FileHandle, start: number, signal: AbortSignal): Promise<number | null> {
  const head = await bytesAt(file, start, 9);
  const magic = head.readUInt32LE(0);
  if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE) return start + 8 + head.readUInt32LE(4);
  if (magic !== FRAME) return null;
  const descriptor = head[4] ?? 0;
  const isSingle = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 && isSingle ? 1 : (CONTENT_SIZE_BYTES[sizeFlag] ?? 0);
  let at = start + 5 + (isSingle ? 0 : WINDOW_BYTES) + (DICTIONARY_BYTES[descriptor & 3] ?? 0) + sizeBytes;
  for (let isLast = false; !isLast && !signal.aborted; ) {
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
