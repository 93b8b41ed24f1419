/**
 * What the ledger keeps about one block and its holders. Knows nothing of other blocks, or of which blocks may leave
 * memory.
 */
import type { ArenaRange, BlockId, BlockState, Bytes, WorkerId } from "../protocol/index.ts";
import type { SpillPlace } from "./place.ts";
import { PAGE, wholePages } from "./ranges.ts";
import type { Link } from "./use-order.ts";

/**
 * What keeps a block alive: the program, a job (the block is its input, or in one of its queues), or the tasks of a
 * job. A block held by a job's queue or by tasks is flowing: on its way through a job, and soon to be used.
 */
export type Holder = "program" | `input:${string}` | `job:${string}` | `task:${string}` | `kept:${string}`;

/**
 * There may be a million entries, so they are small: numbers that fit into 31 bits are stored unboxed, and only the few
 * blocks with more than one holder get a table.
 */
export interface Entry extends Link<Entry> {
  readonly id: BlockId;
  readonly length: Bytes;
  /** As a signed number. */
  readonly checksum: number;
  /** The worker that made the block, or that has taken it over from its maker; null: the program. */
  maker: WorkerId | null;
  /** Null: the block has no holder. */
  holder: Holder | null;
  /** References of that holder. */
  count: number;
  others: Map<Holder, number> | null;
  state: BlockState;
  /** Its first page in the arena; meaningless while the block is only on disk. */
  page: number;
  place: SpillPlace | null;
  pins: number;
  /** References by queues of jobs and by tasks. */
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

/** True if the holder is new to the block. */
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

/** How many references the holder still has; null if it had none. */
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

/** Puts another holder in the place of the one that has no reference any more. */
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
