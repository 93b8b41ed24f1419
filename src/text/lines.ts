/** Line ends in files: where to cut a file, and how many lines precede an offset. */
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Bytes, TextEncoding } from "../protocol/index.ts";

const PIECE: Bytes = 2 ** 16;
const LARGE_PIECE: Bytes = 2 ** 20;
const LINE_FEED = 10;

/** Offsets that cut `size` bytes into this many parts of equal length. */
export function cutPoints(size: Bytes, parts: number): readonly Bytes[] {
  return Array.from({ length: Math.max(0, parts - 1) }, (_, i) => Math.floor((size * (i + 1)) / parts));
}

/** The beginnings of the first lines after these offsets; an offset without a later line is left out. */
export async function cutAtLines(
  path: string,
  size: Bytes,
  points: readonly Bytes[],
  encoding: TextEncoding,
): Promise<readonly Bytes[]> {
  const handle = await open(path, "r");
  try {
    const cuts: Bytes[] = [];
    for (const point of points) {
      // An offset inside the line of the previous cut would give the same cut again.
      if (point <= (cuts.at(-1) ?? 0)) continue;
      const cut = await lineAfter(handle, size, point, encoding);
      if (cut === null || cut >= size) break;
      cuts.push(cut);
    }
    return cuts;
  } finally {
    await handle.close();
  }
}

async function lineAfter(handle: FileHandle, size: Bytes, point: Bytes, encoding: TextEncoding): Promise<Bytes | null> {
  const wide = isWide(encoding);
  const piece = Buffer.allocUnsafe(PIECE);
  for (let at = wide ? point - (point % 2) : point; at < size; at += PIECE) {
    const { bytesRead } = await handle.read(piece, 0, PIECE, at);
    if (bytesRead === 0) return null;
    const end = endOfLine(piece.subarray(0, bytesRead), 0, encoding);
    if (end >= 0) return at + end;
  }
  return null;
}

/** The offset after the first line end at or after `from`; -1 if there is none. */
function endOfLine(bytes: Buffer, from: number, encoding: TextEncoding): number {
  if (!isWide(encoding)) return bytes.indexOf(LINE_FEED, from) + 1 || -1;
  const low = encoding === "utf-16le" ? 0 : 1;
  for (let at = bytes.indexOf(LINE_FEED, from); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) {
    if (at % 2 === low && bytes[at + (low === 0 ? 1 : -1)] === 0) return at - low + 2;
  }
  return -1;
}

function isWide(encoding: TextEncoding): boolean {
  return encoding === "utf-16le" || encoding === "utf-16be";
}

/** Number of line ends in the first `end` bytes of a file. */
export async function linesBefore(path: string, end: Bytes, encoding: TextEncoding): Promise<number> {
  if (end === 0) return 0;
  let lines = 0;
  for await (const piece of createReadStream(path, { end: end - 1, highWaterMark: LARGE_PIECE })) {
    const bytes: Buffer = piece;
    for (let at = endOfLine(bytes, 0, encoding); at >= 0; at = endOfLine(bytes, at, encoding)) lines++;
  }
  return lines;
}
