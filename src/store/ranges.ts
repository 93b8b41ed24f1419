/**
 * Hands out stretches of the arena: which bytes, and nothing about what is in them. Pure arithmetic, no I/O.
 *
 * A byte of the arena is live (in a reservation or block), cached (freed, its page still there) or fresh (no page
 * behind it). Touching fresh memory is five to ten times slower than a page touched before, so cached ranges are
 * used first: the best fit, among equals the one freed last, which is the likeliest to be in a processor's cache.
 * live + cached never exceeds the capacity: fresh space for which that leaves no room is paid for by punching the
 * cached ranges freed longest ago.
 *
 * Everything is in whole pages, the smallest block too: a hole can only be punched in whole pages, and so the figures
 * here are exactly the memory in use.
 */
import { StoreError } from "../errors/index.ts";
import type { ArenaRange, Bytes } from "../protocol/index.ts";

export const PAGE: Bytes = 4096;

export function wholePages(bytes: Bytes): Bytes {
  return Math.max(1, Math.ceil(bytes / PAGE)) * PAGE;
}

export interface Allocation {
  readonly range: ArenaRange;
  /** Give these back to the system before the range is touched. */
  readonly punch: readonly ArenaRange[];
}

/** Cached ranges of one length. Those that are no longer cached are left in it, and skipped, until they are half of it. */
interface SizeClass {
  readonly length: Bytes;
  /** In the order of freeing. */
  ranges: CachedRange[];
  cached: number;
}

interface CachedRange extends ArenaRange {
  isCached: boolean;
}

export class RangeAllocator {
  readonly capacity: Bytes;
  /** Pages by first page: small numbers, which need no box of their own. */
  readonly #live = new Map<number, number>();
  /** By offset, in the order of freeing: the first is the oldest. */
  readonly #cached = new Map<Bytes, CachedRange>();
  readonly #cachedByEnd = new Map<Bytes, CachedRange>();
  readonly #classes = new Map<Bytes, SizeClass>();
  /** Their lengths, ascending. Blocks of a job are of few sizes, however many there are. */
  readonly #lengths: Bytes[] = [];
  /** Ascending by offset, never adjacent. */
  #fresh: ArenaRange[];
  #liveBytes: Bytes = 0;
  #cachedBytes: Bytes = 0;

  constructor(size: Bytes, capacity: Bytes) {
    this.capacity = Math.floor(capacity / PAGE) * PAGE;
    this.#fresh = [{ offset: 0, length: Math.floor(size / PAGE) * PAGE }];
  }

  get live(): Bytes {
    return this.#liveBytes;
  }

  get cached(): Bytes {
    return this.#cachedBytes;
  }

  /** Null where there is no room now. */
  allocate(bytes: Bytes): Allocation | null {
    const length = wholePages(bytes);
    if (this.#liveBytes + length > this.capacity) return null;
    const fit = this.#bestFit(length);
    if (fit !== null) {
      this.#uncache(fit);
      if (fit.length > length) this.#cache({ offset: fit.offset + length, length: fit.length - length });
      return { range: this.#enliven(fit.offset, length), punch: [] };
    }
    const punch = this.#punchFor(length);
    let offset = this.#takeFresh(length);
    if (offset === null) {
      // No stretch of fresh addresses is long enough: join every free one. The arena is many times the capacity,
      // so this is rare, and failing even then only means waiting for a neighbour to be freed.
      for (const range of [...this.#cached.values()]) punch.push(this.#punch(range, range.length));
      offset = this.#takeFresh(length);
    }
    if (offset === null) return null;
    return { range: this.#enliven(offset, length), punch };
  }

  /** Keeps the first `length` bytes and gives the tail back. */
  shrink(offset: Bytes, length: Bytes): void {
    const before = this.#lengthOf(offset);
    const kept = wholePages(length);
    if (kept > before) throw new StoreError(`The range at ${offset} has ${before} bytes, not ${length}.`);
    if (kept === before) return;
    this.#live.set(offset / PAGE, kept / PAGE);
    this.#liveBytes -= before - kept;
    this.#cache({ offset: offset + kept, length: before - kept });
  }

  free(offset: Bytes): void {
    const length = this.#lengthOf(offset);
    this.#live.delete(offset / PAGE);
    this.#liveBytes -= length;
    this.#cache({ offset, length });
  }

  /** Throws where the figures, or the ranges, contradict each other. For tests and the end of every job. */
  assertConsistent(): void {
    const all = [
      ...[...this.#live].map(([page, pages]) => ({ offset: page * PAGE, length: pages * PAGE })),
      ...this.#cached.values(),
      ...this.#fresh,
    ].sort((a, b) => a.offset - b.offset);
    let at = 0;
    for (const range of all) {
      if (range.offset !== at) throw new StoreError(`Ranges overlap or leave a gap at ${at}.`);
      at += range.length;
    }
    const live = [...this.#live.values()].reduce((sum, pages) => sum + pages * PAGE, 0);
    const cached = [...this.#cached.values()].reduce((sum, range) => sum + range.length, 0);
    const inClasses = [...this.#classes.values()].reduce((sum, one) => sum + one.length * one.cached, 0);
    if (live !== this.#liveBytes || cached !== this.#cachedBytes || cached !== inClasses) {
      throw new StoreError(
        `Ranges: ${live} live and ${cached} cached, counted ${this.#liveBytes}, ${this.#cachedBytes}.`,
      );
    }
    if (live + cached > this.capacity) throw new StoreError(`${live + cached} bytes are over ${this.capacity}.`);
  }

  #lengthOf(offset: Bytes): Bytes {
    const pages = this.#live.get(offset / PAGE);
    if (pages === undefined) throw new StoreError(`No live range begins at ${offset}.`);
    return pages * PAGE;
  }

  #enliven(offset: Bytes, length: Bytes): ArenaRange {
    this.#live.set(offset / PAGE, length / PAGE);
    this.#liveBytes += length;
    return { offset, length };
  }

  #bestFit(length: Bytes): CachedRange | null {
    const smallest = this.#lengths[placeOf(this.#lengths, length)];
    const { ranges } = (smallest === undefined ? undefined : this.#classes.get(smallest)) ?? { ranges: [] };
    while (ranges.at(-1)?.isCached === false) ranges.pop();
    return ranges.at(-1) ?? null;
  }

  #cache(freed: ArenaRange): void {
    let { offset, length } = freed;
    const before = this.#cachedByEnd.get(offset);
    if (before !== undefined) {
      this.#uncache(before);
      offset = before.offset;
      length += before.length;
    }
    const after = this.#cached.get(offset + length);
    if (after !== undefined) {
      this.#uncache(after);
      length += after.length;
    }
    const range = { offset, length, isCached: true };
    this.#cached.set(offset, range);
    this.#cachedByEnd.set(offset + length, range);
    this.#cachedBytes += length;
    let sameLength = this.#classes.get(length);
    if (sameLength === undefined) {
      sameLength = { length, ranges: [], cached: 0 };
      this.#classes.set(length, sameLength);
      this.#lengths.splice(placeOf(this.#lengths, length), 0, length);
    }
    sameLength.ranges.push(range);
    sameLength.cached += 1;
  }

  #uncache(range: CachedRange): void {
    this.#cached.delete(range.offset);
    this.#cachedByEnd.delete(range.offset + range.length);
    this.#cachedBytes -= range.length;
    range.isCached = false;
    const sameLength = this.#classes.get(range.length);
    if (sameLength === undefined) return;
    sameLength.cached -= 1;
    if (sameLength.cached === 0) {
      this.#classes.delete(range.length);
      this.#lengths.splice(placeOf(this.#lengths, range.length), 1);
    } else if (sameLength.ranges.length > 2 * sameLength.cached) {
      sameLength.ranges = sameLength.ranges.filter(({ isCached }) => isCached);
    }
  }

  #punchFor(length: Bytes): ArenaRange[] {
    const punched: ArenaRange[] = [];
    for (const range of this.#cached.values()) {
      const excess = this.#liveBytes + this.#cachedBytes + length - this.capacity;
      if (excess <= 0) break;
      punched.push(this.#punch(range, Math.min(excess, range.length)));
    }
    return punched;
  }

  /** The last `length` bytes of a cached range become fresh. */
  #punch(range: CachedRange, length: Bytes): ArenaRange {
    this.#uncache(range);
    const kept = range.length - length;
    if (kept > 0) this.#cache({ offset: range.offset, length: kept });
    const hole = { offset: range.offset + kept, length };
    this.#addFresh(hole);
    return hole;
  }

  #addFresh(hole: ArenaRange): void {
    const at = firstAt(this.#fresh.length, (i) => (this.#fresh[i]?.offset ?? 0) > hole.offset);
    const before = this.#fresh[at - 1];
    const after = this.#fresh[at];
    const joinsBefore = before !== undefined && before.offset + before.length === hole.offset;
    const joinsAfter = after !== undefined && hole.offset + hole.length === after.offset;
    const offset = joinsBefore ? before.offset : hole.offset;
    const end = joinsAfter ? after.offset + after.length : hole.offset + hole.length;
    const from = joinsBefore ? at - 1 : at;
    this.#fresh.splice(from, (joinsBefore ? 1 : 0) + (joinsAfter ? 1 : 0), { offset, length: end - offset });
  }

  #takeFresh(length: Bytes): Bytes | null {
    const at = this.#fresh.findIndex((range) => range.length >= length);
    const range = this.#fresh[at];
    if (range === undefined) return null;
    const rest = { offset: range.offset + length, length: range.length - length };
    if (rest.length > 0) this.#fresh[at] = rest;
    else this.#fresh.splice(at, 1);
    return range.offset;
  }
}

/** The first of so many places of which it holds, where it holds of all after it. */
function firstAt(count: number, holds: (place: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Of the first length that is not smaller. */
function placeOf(lengths: readonly Bytes[], length: Bytes): number {
  return firstAt(lengths.length, (i) => (lengths[i] ?? 0) >= length);
}
