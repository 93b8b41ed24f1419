/** Decides how many tasks a read is cut into, and cuts it. Pieces stay in order and next to each other. */
import type { Column } from "../../plan/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import type { EngineSettings } from "../engine.ts";

const MIB = 2 ** 20;
/** Below this size a second task costs more than it saves. */
const WORTH_SPLITTING: Bytes = 4 * MIB;
const ROWS_WORTH_SPLITTING = 4096;
export const TASKS_PER_WORKER = 4;

interface Amount {
  readonly bytes: Bytes;
  readonly rows: number | null;
  /** How many pieces there are to distribute. */
  readonly pieces: number;
}

/** As many tasks as give blocks of the target size, and at least enough to keep every worker busy to the end. */
export function taskCount(
  amount: Amount,
  override: number | null,
  { workers, targetMaxBlockSize }: Pick<EngineSettings, "workers" | "targetMaxBlockSize">,
): number {
  if (amount.pieces === 0) return 0;
  if (override !== null) return Math.min(override, amount.pieces);
  const bySize = Math.ceil(amount.bytes / Math.max(MIB, targetMaxBlockSize));
  const byBytes =
    amount.bytes >= WORTH_SPLITTING ? Math.min(workers * TASKS_PER_WORKER, Math.ceil(amount.bytes / MIB)) : 1;
  const byRows = Math.min(workers, Math.ceil((amount.rows ?? 0) / ROWS_WORTH_SPLITTING));
  return Math.max(1, Math.min(amount.pieces, Math.max(bySize, byBytes, byRows)));
}

/** Rows of so many blocks may be held in memory to be read a group of columns at a time. */
const HELD_BLOCKS = 3;

/** Types of values that are the same in a table in a worker's memory as in a file. */
const HOLDABLE =
  /^(BOOLEAN|U?(TINY|SMALL|BIG)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|VARCHAR|BLOB|DATE|TIMESTAMP)$/;

/** Tells a task that it may hold all rows that it reads; nothing if they may be too many, or of other types. */
export function heldAtOnce(
  bytes: Bytes,
  columns: readonly Column[],
  { targetMaxBlockSize }: Pick<EngineSettings, "targetMaxBlockSize">,
): { readonly wide?: { readonly columns: number } } {
  if (bytes > HELD_BLOCKS * targetMaxBlockSize) return {};
  return columns.every(({ type }) => HOLDABLE.test(type)) ? { wide: { columns: columns.length } } : {};
}

/** `items` in order, in at most `count` groups of about the same weight. No group is empty. */
export function bundled<T>(items: readonly T[], count: number, weight: (item: T) => number): readonly (readonly T[])[] {
  if (count >= items.length) return items.map((item) => [item]);
  const total = items.reduce((sum, item) => sum + weight(item), 0);
  const bundles: T[][] = [];
  let bundle: T[] = [];
  let done = 0;
  items.forEach((item, i) => {
    bundle.push(item);
    done += weight(item);
    const share = total === 0 ? (i + 1) / items.length : done / total;
    const needed = count - bundles.length - 1;
    const left = items.length - i - 1;
    if (left === 0 || (needed > 0 && (share >= (bundles.length + 1) / count || left <= needed))) {
      bundles.push(bundle);
      bundle = [];
    }
  });
  return bundles;
}

interface RowRange<T> {
  readonly item: T;
  readonly start: number;
  /** Not included. */
  readonly end: number;
}

/** Cuts the rows of items into `count` stretches with the same number of rows, also inside of items. */
export function cutByRows<T>(
  items: readonly T[],
  count: number,
  rows: (item: T) => number,
): readonly (readonly RowRange<T>[])[] {
  const total = items.reduce((sum, item) => sum + rows(item), 0);
  const stretches: RowRange<T>[][] = Array.from({ length: Math.min(count, total) }, () => []);
  let before = 0;
  let at = 0;
  for (const item of items) {
    const own = rows(item);
    let start = 0;
    while (start < own) {
      const bound = Math.floor((total * (at + 1)) / stretches.length);
      const end = Math.min(own, bound - before);
      if (end > start) stretches[at]?.push({ item, start, end });
      start = Math.max(start, end);
      if (before + start >= bound && at < stretches.length - 1) at++;
    }
    before += own;
  }
  return stretches.filter((stretch) => stretch.length > 0);
}
