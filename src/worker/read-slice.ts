/** The rows of a slice, in place: they are valid as long as the block is pinned. */
import { type RecordBatch, readBlock, sliceBatch } from "../arrow/index.ts";
import type { PlacedSlice } from "../protocol/index.ts";
import type { MappedArena } from "../store/index.ts";

export function readSlice(arena: Pick<MappedArena, "view">, { range, start, end }: PlacedSlice): RecordBatch {
  const batch = readBlock(arena.view(range));
  return start === 0 && end === batch.length ? batch : sliceBatch(batch, start, end);
}
