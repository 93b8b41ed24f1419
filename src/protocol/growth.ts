/**
 * Whether a figure that is read again and again still grows: what it is now beside what it was when a quarter to a half
 * of the time had passed. Plain data and arithmetic, because the scheduler and readers of events must find the same.
 */
import type { Bytes, Milliseconds } from "./job.ts";

export interface Growth {
  /** When the figure was first above 0. */
  readonly since: Milliseconds;
  /** The last two times that were kept, each twice as long after `since` as the one before; and the figure then. */
  readonly earlier: Mark | null;
  readonly later: Mark | null;
  /** Null: not watched for long enough. */
  readonly grown: Bytes | null;
}

interface Mark {
  readonly after: Milliseconds;
  readonly value: Bytes;
}

/** What a function loads once, it has loaded by then. */
const FIRST: Milliseconds = 60_000;

/** Adds a reading; undefined: there was none. */
export function grownBy(growth: Growth | undefined, value: Bytes, now: Milliseconds): Growth | undefined {
  if (growth === undefined) return value > 0 ? { since: now, earlier: null, later: null, grown: null } : undefined;
  const { since, later } = growth;
  const after = now - since;
  const isDue = after >= (later === null ? FIRST : 2 * later.after);
  const marks = isDue ? { earlier: later, later: { after, value } } : { earlier: growth.earlier, later };
  return { since, ...marks, grown: marks.earlier === null ? null : Math.max(0, value - marks.earlier.value) };
}

/** The most of several; null where none was watched for long enough. */
export function mostGrown(all: Iterable<Bytes | null>): Bytes | null {
  let most: Bytes | null = null;
  for (const grown of all) if (grown !== null) most = Math.max(most ?? 0, grown);
  return most;
}
