/**
 * What the ledger keeps of a block, and of who holds it. Knows nothing of other blocks, or of what may leave memory.
 */
import type { ArenaRange, BlockId, BlockState, Bytes, WorkerId } from "../protocol/index.ts";
import type { SpillPlace } from "./place.ts";
import { PAGE, wholePages } from "./ranges.ts";
import type { Link } from "./use-order.ts";

/**
 * Who keeps a block alive: the program, a job that reads it as its input or has it in a queue, the tasks of a job. Only
 * in the last two is the block flowing: on its way through a job, and soon to be used.
 */
export type Holder = "program" | `input:${string}` | `job:${string}` | `task:${string}` | `kept:${string}`;

/**
 * There may be a million of these, so they are small: numbers that fit 31 bits need no box of their own, and a table is
 * only made for the few blocks with more than one holder.
 */
export interface Entry extends Link<Entry> {
  readonly id: BlockId;
  readonly length: Bytes;
  /** As a signed number. */
  readonly checksum: number;
  /** Who made it, or has taken it over from whoever did; null: the program. */
  maker: WorkerId | null;
  /** Null where nobody holds it. */
  holder: Holder | null;
  /** References of that holder. */
  count: number;
  others: Map<Holder, number> | null;
  state: BlockState;
  /** In the arena; meaningless where it is only on disk. */
  page: number;
  place: SpillPlace | null;
  pins: number;
  /** References by jobs' queues and tasks. */
  flowing: number;
  /** When it was last used, in ticks. */
  used: number;
}

export function isFlowing(holder: Holder): boolean {
  return holder.startsWith("job:") || holder.startsWith("task:");
}

export function pagesOf({ length }: Entry): Bytes {
  return wholePages(length);
}

export function rangeOf({ page, length }: Entry): ArenaRange {
  return { offset: page * PAGE, length };
}

/** True where the holder is a new one. */
export function hold(entry: Entry, holder: Holder): boolean {
  if (entry.holder === null) entry.holder = holder;
  if (entry.holder === holder) {
    entry.count += 1;
    return entry.count === 1;
  }
  entry.others ??= new Map();
  const count = entry.others.get(holder) ?? 0;
  entry.others.set(holder, count + 1);
  return count === 0;
}

/** The references that the holder still has; null where it had none. */
export function letGo(entry: Entry, holder: Holder): number | null {
  const { others } = entry;
  if (entry.holder === holder) {
    entry.count -= 1;
    if (entry.count === 0) promoteOther(entry);
    return entry.holder === holder ? entry.count : 0;
  }
  const count = others?.get(holder);
  if (others === null || count === undefined) return null;
  if (count > 1) others.set(holder, count - 1);
  else others.delete(holder);
  if (others.size === 0) entry.others = null;
  return count - 1;
}

/** Another holder takes the place of the one that has let go. */
function promoteOther(entry: Entry): void {
  const [next] = entry.others ?? [];
  entry.holder = next?.[0] ?? null;
  entry.count = next?.[1] ?? 0;
  if (next !== undefined) entry.others?.delete(next[0]);
  if (entry.others?.size === 0) entry.others = null;
}

export function referencesTo({ count, others }: Entry): number {
  let references = count;
  for (const more of others?.values() ?? []) references += more;
  return references;
}
