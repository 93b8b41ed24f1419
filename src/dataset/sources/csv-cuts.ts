/**
 * Where a CSV file can be cut between two records, found from the bytes around the places in question
 * (`csv/cut-states.ts`).
 */
import { type FileHandle, open } from "node:fs/promises";
import { CutStates, canBeCut, type Dialect } from "../../csv/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import type { CsvShape } from "./csv-files.ts";
import type { SourceFile } from "./files.ts";

const PIECE: Bytes = 2 ** 18;
/** Shorter files are read from their beginning, which leaves no doubt about the state. */
const LOOKED_THROUGH: Bytes = 32_000_000;
const LINE_FEED = 10;
/** The byte order mark of UTF-8, at the beginning of a file. */
const MARK = Buffer.from("\uFEFF");

/** Offsets of records soon after these points; fewer if some cannot be known for certain. */
export async function cutCsv(
  file: SourceFile,
  { dialect, lines }: CsvShape,
  points: readonly Bytes[],
): Promise<readonly Bytes[]> {
  if (!canBeCut(dialect) || dialect.mixedLineEnds || points.length === 0) return [];
  const handle = await open(file.path, "r");
  try {
    const first = await firstRecordEnd(handle, dialect, lines.line);
    if (first === null) return [];
    if (file.bytes <= LOOKED_THROUGH) return await lookedThrough(handle, dialect, points, first);
    const cuts: Bytes[] = [];
    for (const point of points) {
      if (point <= (cuts.at(-1) ?? first)) continue;
      const states = new CutStates(dialect, lines.line, false);
      // Two of the longest lines are enough to prove or to rule out every state.
      const cut = await recordAfter(handle, states, point, point + 2 * lines.line);
      if (cut !== null && cut < file.bytes && cut > (cuts.at(-1) ?? 0)) cuts.push(cut);
    }
    return cuts;
  } finally {
    await handle.close();
  }
}

/** Reads all records and returns the first one after each point. */
async function lookedThrough(
  handle: FileHandle,
  dialect: Dialect,
  points: readonly Bytes[],
  first: Bytes,
): Promise<readonly Bytes[]> {
  const states = new CutStates(dialect, Number.POSITIVE_INFINITY, true);
  const cuts: Bytes[] = [];
  const waiting = points.filter((point) => point > first);
  const bytes = Buffer.allocUnsafe(PIECE);
  for (let at = first; waiting.length > 0; ) {
    const { bytesRead } = await handle.read(bytes, 0, PIECE, at);
    if (bytesRead === 0) break;
    const piece = bytes.subarray(0, bytesRead);
    for (let end = states.push(piece); end >= 0; end = states.push(piece, end)) {
      if (at + end < (waiting[0] ?? Number.POSITIVE_INFINITY)) continue;
      while ((waiting[0] ?? Number.POSITIVE_INFINITY) <= at + end) waiting.shift();
      cuts.push(at + end);
    }
    at += bytesRead;
  }
  // A cut at the end of the file cuts nothing off.
  const { size } = await handle.stat();
  return cuts.filter((cut) => cut < size);
}

/** The end of the header, or of the first row: it and everything above it belong to the first part. */
async function firstRecordEnd(handle: FileHandle, dialect: Dialect, longest: Bytes): Promise<Bytes | null> {
  const head = Buffer.alloc(MARK.length);
  await handle.read(head, 0, MARK.length, 0);
  let start = head.equals(MARK) ? MARK.length : 0;
  for (let line = 0; line < dialect.above; line++) {
    const end = await lineEnd(handle, start);
    if (end === null) return null;
    start = end;
  }
  return recordAfter(handle, new CutStates(dialect, longest, true), start, Number.POSITIVE_INFINITY);
}

async function recordAfter(handle: FileHandle, states: CutStates, start: Bytes, limit: Bytes): Promise<Bytes | null> {
  const bytes = Buffer.allocUnsafe(PIECE);
  for (let at = start; at < limit; ) {
    const { bytesRead } = await handle.read(bytes, 0, PIECE, at);
    if (bytesRead === 0) return null;
    const end = states.push(bytes.subarray(0, bytesRead));
    if (end >= 0) return at + end;
    at += bytesRead;
  }
  return null;
}

async function lineEnd(handle: FileHandle, start: Bytes): Promise<Bytes | null> {
  const bytes = Buffer.allocUnsafe(PIECE);
  for (let at = start; ; at += PIECE) {
    const { bytesRead } = await handle.read(bytes, 0, PIECE, at);
    const end = bytes.subarray(0, bytesRead).indexOf(LINE_FEED);
    if (end >= 0) return at + end + 1;
    if (bytesRead < PIECE) return null;
  }
}
