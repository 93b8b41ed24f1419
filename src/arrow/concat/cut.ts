/**
 * Where rows are cut into blocks: into parts of about the same number of bytes, none above the target unless a single
 * row is. Uses the real length of blocks, asks for a few dozen lengths a cut, and looks at no row.
 */
import { planBlock } from "../ipc/block.ts";
import type { RecordBatch } from "../types.ts";
import { sliceBatch } from "../vector.ts";
import { BlockBuilder } from "./block-builder.ts";

/** The first step of the search for a cut. Ordinary blocks have more rows, blocks of huge rows fewer. */
const FIRST_STEP = 64;

/**
 * The end of the next block, which contains the rows in the builder and rows from `start` on. It is `start` itself if
 * the rows in the builder are enough, or no row fits with them.
 */
export function nextCut(held: BlockBuilder, batch: RecordBatch, start: number, target: number): number {
  const length = (end: number) => held.blockLengthWith(batch, start, end);
  const whole = length(batch.length);
  if (whole <= target) return batch.length;
  const most = lastWhere(start, batch.length, (end) => length(end) <= target);
  if (most === start) return held.rows > 0 ? start : start + 1;
  // The rows before a row that needs a block of its own are not cut because of it.
  if (planBlock(sliceBatch(batch, most, most + 1)).byteLength > target) return most;
  const frame = held.frameLength;
  const parts = Math.ceil((whole - frame) / Math.max(1, target - frame));
  const share = frame + (whole - frame) / parts;
  if (held.rows > 0 && length(start) >= share) return start;
  // Up to the row that reaches the share: rounding down would leave too much for the last part.
  return Math.min(most, lastWhere(start, most, (end) => length(end) < share) + 1);
}

/** The batch as slices whose blocks are at most as long as the target, unless they are a single row. */
export function* evenSlices(batch: RecordBatch, target: number): Generator<RecordBatch, void, undefined> {
  const nothing = new BlockBuilder();
  for (let start = 0; start < batch.length; ) {
    const end = nextCut(nothing, batch, start, target);
    yield sliceBatch(batch, start, end);
    start = end;
  }
}

/**
 * The last number up to `end` at which `holds` is true, provided that it is true up to some number and false after it;
 * at least `start`.
 */
function lastWhere(start: number, end: number, holds: (at: number) => boolean): number {
  let good = start;
  let step = FIRST_STEP;
  while (good + step < end && holds(good + step)) {
    good += step;
    step *= 2;
  }
  let bad = Math.min(end, good + step) + 1;
  while (bad - good > 1) {
    const middle = (good + bad) >>> 1;
    if (holds(middle)) good = middle;
    else bad = middle;
  }
  return good;
}
