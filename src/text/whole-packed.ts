/**
 * Checks whether the kernel gets all lines of a compressed file. The kernel reads a truncated file as if it ended
 * there, even in the middle of a row or a number, and it leaves out a last line that is too long. A gzip file must be
 * unpacked up to its checksum for this. A zstd file says where its blocks end, and is unpacked for its
 * last line alone, where Node can.
 */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { PackedFile } from "../protocol/index.ts";
import { messageOf } from "../realm/index.ts";
import { LastLine, lastLineFault } from "./last-line.ts";
import { unpackedZstd, unpacksZstd } from "./zstd.ts";
import { frameEnd } from "./zstd-frames.ts";

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
  const unpacker = createGunzip({ chunkSize: PIECE });
  // The loop that measures gets the errors of both.
  pipeline(createReadStream(file.path, { highWaterMark: PIECE }), unpacker, { signal }).catch(() => {});
  try {
    return await unpackedFault(file, unpacker, signal);
  } catch (error) {
    return gzipWords(messageOf(error));
  }
}

/** Throws the unpacker's error if the file cannot be unpacked. */
async function unpackedFault(
  { refusedLine }: PackedFile,
  pieces: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<string | null> {
  const lastLine = new LastLine();
  for await (const piece of pieces) {
    signal.throwIfAborted();
    if (refusedLine !== undefined) lastLine.push(piece);
  }
  return refusedLine === undefined ? null : lastLineFault(lastLine, refusedLine);
}

async function zstdFault(packed: PackedFile, signal: AbortSignal): Promise<string | null> {
  const fault = await zstdEndFault(packed.path, signal);
  if (fault !== null || packed.refusedLine === undefined || !unpacksZstd) return fault;
  try {
    return await unpackedFault(packed, unpackedZstd(packed.path), signal);
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
      const frame = await frameEnd(file, at, signal);
      if (frame.kind === "none") {
        return at === 0 ? 'it is not a zstd file. Give compression: "none", or the right one' : null;
      }
      if (frame.end > size) return `it was cut short: its packed data ends too early. ${AGAIN}`;
      at = frame.end;
    }
    return null;
  } finally {
    await file.close();
  }
}
