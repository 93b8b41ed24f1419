/**
 * Combines splits over blocks in the store and cuts them anew, so that each has whole batches for a function. Only for
 * splits whose number the user did not choose. It works like the scheduler's bundling of blocks, and goes no further,
 * because all blocks of a task are in memory while it runs.
 */
import type { BlockSlice, Bytes, Split } from "../protocol/index.ts";

/** If a task has fewer batches than this, a last batch that is not full costs much of its time. */
const FEW_BATCHES = 4;

/**
 * Whether tasks over these splits, some of whose rows are left out first, would make many batches that are not full.
 */
export function makesShortBatches(splits: readonly Split[], batchSize: number): boolean {
  if (splits.length < 2) return false;
  const rows = splits.reduce((sum, split) => sum + (split.kind === "blocks" ? rowsOf(split.slices) : 0), 0);
  return rows / splits.length < FEW_BATCHES * batchSize;
}

/** Share of the store for the blocks of one task. */
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
