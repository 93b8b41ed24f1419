/**
 * Where rows are cut into blocks: into parts of about the same bytes, none above the target but for a row that is so by
 * itself. Works by the real length of blocks, asks for a few dozen of them a cut, and looks at no row.
 */
import { planBlock } from "../ipc/block.ts";
import type { RecordBatch } from "../types.ts";
import { sliceBatch } from "../vector.ts";
import { BlockBuilder } from "./block-builder.ts";

/** How far the search for a cut steps at first; ordinary blocks have more rows, blocks of huge rows fewer. */
const FIRST_STEP = 64;

/**
 * The end of the next block: what the builder holds, and rows from `start` on. It is `start` itself where what is held
 * is enough, or no row fits to it.
 */
export function nextCut(held: BlockBuilder, batch: RecordBatch, start: number, target: number): number {
  const length = (end: number) => held.blockLengthWith(batch, start, end);
  const whole = length(batch.length);
  if (whole <= target) return batch.length;
  const most = lastWhere(start, batch.length, (end) => length(end) <= target);
  if (most === start) return held.rows > 0 ? start : start + 1;
  // What comes before a row that needs a block of its own is not cut for the sake of that.
  if (planBlock(sliceBatch(batch, most, most + 1)).byteLength > target) return most;
  const frame = held.frameLength;
  const parts = Math.ceil((whole - frame) / Math.max(1, target - frame));
  const share = frame + (whole - frame) / parts;
  if (held.rows > 0 && length(start) >= share) return start;
  // Up to the row with which the share is reached: rounding down would leave too much for the last part.
  return Math.min(most, lastWhere(start, most, (end) => length(end) < share) + 1);
}

/** The batch as slices that are blocks of at most the target, unless they are one row. */
export function* evenSlices(batch: RecordBatch, target: number): Generator<RecordBatch, void, undefined> {
  const nothing = new BlockBuilder();
  for (let start = 0; start < batch.length; ) {
    const end = nextCut(nothing, batch, start, target);
    yield sliceBatch(batch, start, end);
    start = end;
  }
}

/**
 * The last number up to `end` for which it holds, given that it holds up to some number and not past it; at least
 * `start`.
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
