/**
 * Splits of blocks in the store that nobody asked for, put together and cut anew so that each has whole batches of a
 * function: as the scheduler does with blocks on their way, and no further, since all blocks of a task are in memory
 * while it runs.
 */
import type { BlockSlice, Bytes, Split } from "../protocol/index.ts";

/** A task with fewer batches than this loses much to its last one, which is not full. */
const FEW_BATCHES = 4;

/**
 * Whether tasks over these splits, of whose rows some are left out first, would make many batches that are not full.
 */
export function makesShortBatches(splits: readonly Split[], batchSize: number): boolean {
  if (splits.length < 2) return false;
  const rows = splits.reduce((sum, split) => sum + (split.kind === "blocks" ? rowsOf(split.slices) : 0), 0);
  return rows / splits.length < FEW_BATCHES * batchSize;
}

/** Of the store, for the blocks of one task. */
const TASK_SHARE = 1 / 8;

export function wholeBatches(splits: readonly Split[], batchSize: number, capacity: Bytes): readonly Split[] {
  const made: Split[] = [];
  let open: BlockSlice[] = [];
  for (const split of splits) {
    if (split.kind !== "blocks") return splits;
    open.push(...split.slices);
    const rows = rowsOf(open);
    const isFull = bytesOf(open) >= capacity * TASK_SHARE;
    if (rows < batchSize && !isFull) continue;
    const [now, later] = isFull && rows < batchSize ? [open, []] : cutAt(open, rows - (rows % batchSize));
    made.push({ kind: "blocks", slices: now });
    open = later;
  }
  if (open.length > 0) made.push({ kind: "blocks", slices: open });
  return made;
}

function cutAt(slices: readonly BlockSlice[], rows: number): [BlockSlice[], BlockSlice[]] {
  const [before, after]: [BlockSlice[], BlockSlice[]] = [[], []];
  let left = rows;
  for (const slice of slices) {
    const cut = Math.min(slice.end, slice.start + left);
    if (cut > slice.start) before.push({ ...slice, end: cut });
    if (cut < slice.end) after.push({ ...slice, start: cut });
    left -= cut - slice.start;
  }
  return [before, after];
}

function rowsOf(slices: readonly BlockSlice[]): number {
  return slices.reduce((sum, { start, end }) => sum + end - start, 0);
}

function bytesOf(slices: readonly BlockSlice[]): Bytes {
  return slices.reduce((sum, { block, start, end }) => sum + (block.length * (end - start)) / block.rows, 0);
}
