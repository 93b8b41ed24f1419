/**
 * Writes blocks from the arena into one open file, one after the other. Small blocks share a slice. Each block is
 * written compressed or plain. Knows nothing of directories and quotas: `charge` is told what is about to be written.
 */
import type { FileHandle } from "node:fs/promises";
import type { ArenaRange, Bytes } from "../../protocol/index.ts";
import type { ArenaFile } from "./arena-file.ts";
import { CHUNK, type Codec, encodeChunk } from "./codecs.ts";
import { pump, SLICE, type Slices } from "./lane.ts";
import { WriteBehind } from "./write-behind.ts";

export interface BlockToWrite {
  readonly range: ArenaRange;
  readonly codec: Codec | null;
}

/** Part of a block. */
interface Extent {
  readonly block: number;
  readonly offset: Bytes;
  readonly length: Bytes;
}

/** What is written at once: as many plain blocks (or parts of them) as fit into a slice, or one chunk to compress. */
interface Piece {
  readonly codec: Codec | null;
  readonly extents: readonly Extent[];
}

/**
 * Returns each block's stored length. Calls `charge` with compressed bytes before they are written; `charge` may throw.
 */
export async function writeBlocks(
  file: FileHandle,
  blocks: readonly BlockToWrite[],
  arena: ArenaFile,
  slices: Slices,
  charge: (bytes: Bytes) => void,
): Promise<Bytes[]> {
  const stored = blocks.map(({ range, codec }) => (codec === null ? range.length : 0));
  const out = new WriteBehind(file);
  const fill = async ({ extents }: Piece, slice: Uint8Array) => {
    let filled = 0;
    for (const { offset, length } of extents) {
      await arena.read(slice.subarray(filled, filled + length), offset);
      filled += length;
    }
    return filled;
  };
  const empty = async ({ codec, extents }: Piece, slice: Uint8Array, filled: Bytes) => {
    if (codec === null) return out.append(slice.subarray(0, filled));
    const coded = slice.subarray(CHUNK);
    const length = await encodeChunk(codec, slice.subarray(0, filled), coded);
    charge(length);
    for (const { block } of extents) stored[block] = (stored[block] ?? 0) + length;
    return out.append(coded.subarray(0, length));
  };
  try {
    await pump(slices, piecesOf(blocks), fill, empty);
    await out.finish();
  } finally {
    await out.settled();
  }
  return stored;
}

function* piecesOf(blocks: readonly BlockToWrite[]): Generator<Piece> {
  let gathered: Extent[] = [];
  let room = SLICE;
  for (const [block, { range, codec }] of blocks.entries()) {
    if (codec !== null && gathered.length > 0) {
      yield { codec: null, extents: gathered };
      gathered = [];
      room = SLICE;
    }
    const end = range.offset + range.length;
    let offset = range.offset;
    while (offset < end) {
      const length = Math.min(codec === null ? room : CHUNK, end - offset);
      const extent: Extent = { block, offset, length };
      offset += length;
      if (codec !== null) {
        yield { codec, extents: [extent] };
        continue;
      }
      gathered.push(extent);
      room -= length;
      if (room > 0) continue;
      yield { codec: null, extents: gathered };
      gathered = [];
      room = SLICE;
    }
  }
  if (gathered.length > 0) yield { codec: null, extents: gathered };
}
