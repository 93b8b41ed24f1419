/**
 * Hands out stretches of the arena. It knows which bytes are free, and nothing about what is in them. Pure arithmetic,
 * no I/O.
 *
 * A byte of the arena is live (in a reservation or block), cached (freed, its page still there) or fresh (no page
 * behind it). Touching fresh memory is five to ten times slower than touching a page again, so cached ranges are used
 * first: the best fit, and among equals the range freed last, which is the likeliest to be in a processor's cache.
 * live + cached never exceeds the capacity: before fresh space would pass it, the cached ranges freed longest ago are
 * punched.
 *
 * Everything is in whole pages, even the smallest block, because a hole can only be punched in whole pages. So the
 * figures here are exactly the memory in use.
 */
import { StoreError } from "../errors/index.ts";
import type { ArenaRange, Bytes } from "../protocol/index.ts";

export const PAGE: Bytes = 4096;

export function wholePages(bytes: Bytes): Bytes {
  return pagesIn(bytes) * PAGE;
}

export interface Allocation {
  readonly range: ArenaRange;
  /** Ranges to give back to the system before the new range is touched. */
  readonly punch: readonly ArenaRange[];
}

/**
 * A stretch of pages. Everything is counted in pages: these numbers are small enough to be stored unboxed, however
 * large the arena is.
 */
interface Stretch {
  readonly page: number;
  readonly pages: number;
}

interface CachedStretch extends Stretch {
  isCached: boolean;
}

/**
 * Cached stretches of one size. Stretches that are no longer cached stay in the list and are skipped, until they are
 * half of it.
 */
interface SizeClass {
  /** In the order in which they were freed. */
  stretches: CachedStretch[];
  cached: number;
}

export class RangeAllocator {
  readonly capacity: Bytes;
  /** Sizes by first page. */
  readonly #live = new Map<number, number>();
  /** By first page, in the order in which they were freed: the first is the oldest. */
  readonly #cached = new Map<number, CachedStretch>();
  readonly #cachedByEnd = new Map<number, CachedStretch>();
  readonly #classes = new Map<number, SizeClass>();
  /**
   * The sizes of cached stretches, ascending. The blocks of a job have few different sizes, however many blocks there
   * are.
   */
  readonly #sizes: number[] = [];
  readonly #capacity: number;
  /** Ascending; no two are adjacent. */
  #fresh: Stretch[];
  #livePages = 0;
  #cachedPages = 0;
  /** Pages of the capacity that are lent out. */
  #lentPages = 0;
  /** Pages of the capacity that no new range gets. Ranges that are live may take some of them. */
  #withheldPages = 0;

  constructor(size: Bytes, capacity: Bytes) {
    this.#capacity = Math.floor(capacity / PAGE);
    this.capacity = this.#capacity * PAGE;
    this.#fresh = [{ page: 0, pages: Math.floor(size / PAGE) }];
  }

  get live(): Bytes {
    return this.#livePages * PAGE;
  }

  get cached(): Bytes {
    return this.#cachedPages * PAGE;
  }

  get lent(): Bytes {
    return this.#lentPages * PAGE;
  }

  get withheld(): Bytes {
    return this.#withheldPages * PAGE;
  }

  /**
   * Keeps this much of the capacity from new ranges, until the next call. Returns the cached ranges to give back to the
   * system for it.
   */
  withhold(bytes: Bytes): readonly ArenaRange[] {
    this.#withheldPages = Math.min(this.#capacity, Math.max(0, Math.floor(bytes / PAGE)));
    return this.#punchFor(0);
  }

  /**
   * Lends this much of the capacity, until the next call. Returns the cached ranges to give back to the system for it.
   */
  lend(bytes: Bytes): readonly ArenaRange[] {
    const pages = Math.floor(bytes / PAGE);
    if (pages > this.#capacity - this.#livePages) {
      throw new StoreError(`${bytes} bytes cannot be lent: ${this.live} of ${this.capacity} are in use.`);
    }
    this.#lentPages = pages;
    return this.#punchFor(0);
  }

  /** Takes this many bytes of cached ranges, oldest first. Returns them, to be given back to the system. */
  giveBack(bytes: Bytes): readonly ArenaRange[] {
    const punched: ArenaRange[] = [];
    let left = Math.min(pagesIn(bytes), this.#cachedPages);
    for (const stretch of this.#cached.values()) {
      if (left <= 0) break;
      const pages = Math.min(left, stretch.pages);
      punched.push(this.#punch(stretch, pages));
      left -= pages;
    }
    return punched;
  }

  /** Null: there is no room now. */
  allocate(bytes: Bytes): Allocation | null {
    const pages = pagesIn(bytes);
    if (this.#livePages + this.#lentPages + this.#withheldPages + pages > this.#capacity) return null;
    const fit = this.#bestFit(pages);
    if (fit !== null) {
      this.#uncache(fit);
      if (fit.pages > pages) this.#cache(fit.page + pages, fit.pages - pages);
      return { range: this.#enliven(fit.page, pages), punch: [] };
    }
    const punch = this.#punchFor(pages);
    let page = this.#takeFresh(pages);
    if (page === null) {
      // No stretch of fresh addresses is long enough: join all free ones. The arena is many times the capacity, so this
      // is rare. If even that fails, the caller waits until a neighbour is freed.
      for (const stretch of [...this.#cached.values()]) punch.push(this.#punch(stretch, stretch.pages));
      page = this.#takeFresh(pages);
    }
    if (page === null) return null;
    return { range: this.#enliven(page, pages), punch };
  }

  /** Keeps the first `length` bytes and frees the tail. */
  shrink(offset: Bytes, length: Bytes): void {
    const page = offset / PAGE;
    const before = this.#sizeOf(offset);
    const kept = pagesIn(length);
    if (kept > before) throw new StoreError(`The range at ${offset} has ${before * PAGE} bytes, not ${length}.`);
    if (kept === before) return;
    this.#live.set(page, kept);
    this.#livePages -= before - kept;
    this.#cache(page + kept, before - kept);
  }

  free(offset: Bytes): void {
    const pages = this.#sizeOf(offset);
    this.#live.delete(offset / PAGE);
    this.#livePages -= pages;
    this.#cache(offset / PAGE, pages);
  }

  /** Throws if the figures or the ranges contradict each other. For tests and the end of every job. */
  assertConsistent(): void {
    const live = [...this.#live].map(([page, pages]) => ({ page, pages }));
    const all = [...live, ...this.#cached.values(), ...this.#fresh].sort((a, b) => a.page - b.page);
    let at = 0;
    for (const { page, pages } of all) {
      if (page !== at) throw new StoreError(`Ranges overlap or leave a gap at ${at * PAGE}.`);
      at += pages;
    }
    const livePages = sum(live);
    const cachedPages = sum(this.#cached.values());
    let inClasses = 0;
    for (const [pages, { cached }] of this.#classes) inClasses += pages * cached;
    if (livePages !== this.#livePages || cachedPages !== this.#cachedPages || cachedPages !== inClasses) {
      throw new StoreError(
        `Ranges: ${livePages} pages live and ${cachedPages} cached, counted ${this.#livePages}, ${this.#cachedPages}, ${inClasses}.`,
      );
    }
    if (livePages + cachedPages + this.#lentPages > this.#capacity) {
      throw new StoreError(
        `${livePages + cachedPages} pages, and ${this.#lentPages} lent, are over ${this.#capacity}.`,
      );
    }
  }

  #sizeOf(offset: Bytes): number {
    const pages = this.#live.get(offset / PAGE);
    if (pages === undefined) throw new StoreError(`No live range begins at ${offset}.`);
    return pages;
  }

  #enliven(page: number, pages: number): ArenaRange {
    this.#live.set(page, pages);
    this.#livePages += pages;
    return rangeOf({ page, pages });
  }

  #bestFit(pages: number): CachedStretch | null {
    const smallest = this.#sizes[placeOf(this.#sizes, pages)];
    const sameSize = smallest === undefined ? undefined : this.#classes.get(smallest);
    if (sameSize === undefined) return null;
    const { stretches } = sameSize;
    while (stretches.at(-1)?.isCached === false) stretches.pop();
    return stretches.at(-1) ?? null;
  }

  #cache(freedPage: number, freedPages: number): void {
    let page = freedPage;
    let pages = freedPages;
    const before = this.#cachedByEnd.get(page);
    if (before !== undefined) {
      this.#uncache(before);
      page = before.page;
      pages += before.pages;
    }
    const after = this.#cached.get(page + pages);
    if (after !== undefined) {
      this.#uncache(after);
      pages += after.pages;
    }
    const stretch = { page, pages, isCached: true };
    this.#cached.set(page, stretch);
    this.#cachedByEnd.set(page + pages, stretch);
    this.#cachedPages += pages;
    let sameSize = this.#classes.get(pages);
    if (sameSize === undefined) {
      sameSize = { stretches: [], cached: 0 };
      this.#classes.set(pages, sameSize);
      this.#sizes.splice(placeOf(this.#sizes, pages), 0, pages);
    }
    sameSize.stretches.push(stretch);
    sameSize.cached += 1;
  }

  #uncache(stretch: CachedStretch): void {
    const { page, pages } = stretch;
    stretch.isCached = false;
    this.#cached.delete(page);
    this.#cachedByEnd.delete(page + pages);
    this.#cachedPages -= pages;
    const sameSize = this.#classes.get(pages);
    if (sameSize === undefined) return;
    sameSize.cached -= 1;
    if (sameSize.cached === 0) {
      this.#classes.delete(pages);
      this.#sizes.splice(placeOf(this.#sizes, pages), 1);
    } else if (sameSize.stretches.length > 2 * sameSize.cached) {
      sameSize.stretches = sameSize.stretches.filter(({ isCached }) => isCached);
    }
  }

  #punchFor(pages: number): ArenaRange[] {
    const punched: ArenaRange[] = [];
    for (const stretch of this.#cached.values()) {
      const excess =
        this.#livePages + this.#cachedPages + this.#lentPages + this.#withheldPages + pages - this.#capacity;
      if (excess <= 0) break;
      punched.push(this.#punch(stretch, Math.min(excess, stretch.pages)));
    }
    return punched;
  }

  /** The last pages of a cached stretch become fresh. */
  #punch(stretch: CachedStretch, pages: number): ArenaRange {
    this.#uncache(stretch);
    const kept = stretch.pages - pages;
    if (kept > 0) this.#cache(stretch.page, kept);
    const hole = { page: stretch.page + kept, pages };
    this.#addFresh(hole);
    return rangeOf(hole);
  }

  #addFresh(hole: Stretch): void {
    const at = firstAt(this.#fresh.length, (i) => (this.#fresh[i]?.page ?? 0) > hole.page);
    const before = this.#fresh[at - 1];
    const after = this.#fresh[at];
    const joinsBefore = before !== undefined && before.page + before.pages === hole.page;
    const joinsAfter = after !== undefined && hole.page + hole.pages === after.page;
    const page = joinsBefore ? before.page : hole.page;
    const end = joinsAfter ? after.page + after.pages : hole.page + hole.pages;
    const from = joinsBefore ? at - 1 : at;
    this.#fresh.splice(from, (joinsBefore ? 1 : 0) + (joinsAfter ? 1 : 0), { page, pages: end - page });
  }

  #takeFresh(pages: number): number | null {
    const at = this.#fresh.findIndex((stretch) => stretch.pages >= pages);
    const stretch = this.#fresh[at];
    if (stretch === undefined) return null;
    if (stretch.pages > pages) this.#fresh[at] = { page: stretch.page + pages, pages: stretch.pages - pages };
    else this.#fresh.splice(at, 1);
    return stretch.page;
  }
}

function pagesIn(bytes: Bytes): number {
  return Math.max(1, Math.ceil(bytes / PAGE));
}

function rangeOf({ page, pages }: Stretch): ArenaRange {
  return { offset: page * PAGE, length: pages * PAGE };
}

function sum(stretches: Iterable<Stretch>): number {
  let all = 0;
  for (const { pages } of stretches) all += pages;
  return all;
}

/** The first of `count` places at which `holds` is true, provided that it is true at all later places. */
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

/** The place of the first size that is not smaller than `size`. */
function placeOf(sizes: readonly number[], size: number): number {
  return firstAt(sizes.length, (i) => (sizes[i] ?? 0) >= size);
}
