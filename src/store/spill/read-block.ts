/**
 * Restores one block from its file into the arena, and verifies its length and the checksum of its raw bytes. A fault
 * of the file is a SpillDamagedError; a fault of the arena is a StoreError.
 */
import type { FileHandle } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { SpillDamagedError, StoreError } from "../../errors/index.ts";
import type { ArenaRange, Bytes } from "../../protocol/index.ts";
import { codeOf, isError } from "../../realm/index.ts";
import { formatSize } from "../../units/index.ts";
import type { ArenaFile } from "./arena-file.ts";
import { CHUNK, CHUNK_HEADER, type ChunkHeader, chunkHeader, codecNamed } from "./codecs.ts";
import { pump, SLICE, type Slices } from "./lane.ts";
import { drop } from "./page-cache.ts";
import type { SpillPlace } from "./settings.ts";
import type { SharedFile } from "./shared-file.ts";
import { readFully } from "./whole.ts";

/** How much may stay in the page cache while a block is read. */
const WINDOW: Bytes = 8 << 20;

/** Part of the raw block. */
interface Piece {
  readonly offset: Bytes;
  readonly length: Bytes;
  /** Set when the piece is read. */
  compressed: boolean;
}

class Damage extends Error {
  constructor(
    readonly reason: SpillDamagedError["reason"],
    how: string,
  ) {
    super(how);
  }
}

export async function restoreBlock(
  shared: SharedFile,
  place: SpillPlace,
  into: ArenaRange,
  checksum: number,
  arena: ArenaFile,
  slices: Slices,
): Promise<void> {
  try {
    const file = await shared.opened();
    const source = place.codec === "none" ? plainSource(file, place) : codedSource(file, place, place.codec);
    let sum = 0;
    await pump(slices, piecesOf(into.length, source.piece), source.fill, async (piece, slice, filled) => {
      const raw = await source.raw(piece, slice, filled);
      sum = crc32(raw, sum);
      await arena.write(raw, into.offset + piece.offset);
    });
    if (sum !== checksum) throw new Damage("checksum", `its checksum is ${hex(sum)}, and was ${hex(checksum)}`);
  } catch (error) {
    throw explained(error, shared.path, place);
  }
}

interface Source {
  /** Raw bytes a piece. */
  readonly piece: Bytes;
  readonly fill: (piece: Piece, slice: Uint8Array) => Promise<Bytes>;
  readonly raw: (piece: Piece, slice: Uint8Array, filled: Bytes) => Promise<Uint8Array>;
}

function plainSource(file: FileHandle, place: SpillPlace): Source {
  const read = readerOf(file);
  return {
    piece: SLICE,
    fill: async ({ offset, length }, slice) => {
      await read(slice.subarray(0, length), place.offset + offset);
      return length;
    },
    raw: async (_, slice, filled) => slice.subarray(0, filled),
  };
}

function codedSource(file: FileHandle, place: SpillPlace, name: "lz4" | "zstd"): Source {
  const read = readerOf(file);
  const codec = codecNamed(name);
  const end = place.offset + place.stored;
  let at = place.offset;
  /** The header of the next chunk is read together with the present chunk: one read a chunk. */
  let next: ChunkHeader | null = null;
  return {
    piece: CHUNK,
    fill: async (piece, slice) => {
      if (next === null) {
        await read(slice.subarray(0, CHUNK_HEADER), at);
        next = chunkHeader(slice, 0);
        at += CHUNK_HEADER;
      }
      const { length } = next;
      piece.compressed = next.compressed;
      if (length > piece.length || at + length > end) throw new Damage("checksum", "a chunk has an impossible length");
      const isLast = at + length === end;
      await read(slice.subarray(0, isLast ? length : length + CHUNK_HEADER), at);
      at += isLast ? length : length + CHUNK_HEADER;
      next = isLast ? { length: 0, compressed: true } : chunkHeader(slice, length);
      return length;
    },
    raw: async (piece, slice, filled) => {
      const stored = slice.subarray(0, filled);
      let length = filled;
      let raw = stored;
      if (piece.compressed) {
        raw = slice.subarray(SLICE - piece.length);
        length = await codec.decode(stored, raw).catch((cause: Error) => {
          throw new Damage("checksum", `a chunk cannot be decompressed (${cause.message})`);
        });
      }
      if (length !== piece.length) throw new Damage("checksum", `a chunk has ${length} bytes, and had ${piece.length}`);
      return raw;
    },
  };
}

function* piecesOf(length: Bytes, piece: Bytes): Generator<Piece> {
  for (let offset = 0; offset < length; offset += piece) {
    yield { offset, length: Math.min(piece, length - offset), compressed: false };
  }
}

/** Reads in order, and drops from the page cache what was read a window ago. */
function readerOf(file: FileHandle): (into: Uint8Array, offset: Bytes) => Promise<void> {
  let kept: Bytes | null = null;
  return async (into, offset) => {
    kept ??= offset;
    const read = await readFully(file, into, offset);
    if (read < into.length) throw new Damage("truncated", `it ends at ${offset + read}`);
    if (offset - kept < WINDOW) return;
    await drop(file, kept, offset - kept);
    kept = offset;
  };
}

function explained(error: unknown, path: string, { offset, stored }: SpillPlace): unknown {
  if (error instanceof StoreError || !isError(error)) return error;
  const reason = error instanceof Damage ? error.reason : codeOf(error) === "ENOENT" ? "missing" : "unreadable";
  return new SpillDamagedError(
    `The spill file ${path} is ${reason === "checksum" ? "damaged" : reason}: a block of ${formatSize(stored)} at ` +
      `${offset} cannot be restored (${error.message}). Another program deleted or changed it, or the disk is ` +
      "failing. Check the disk, choose another localDirectory, and run the job again.",
    path,
    reason,
    { offset, length: stored },
  );
}

function hex(sum: number): string {
  return sum.toString(16).padStart(8, "0");
}
