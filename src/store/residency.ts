/**
 * Where blocks are, in memory or on disk, and every way from one to the other (drawn above the ledger). Moves the
 * blocks that it is given. The ledger knows which blocks there are and who holds them.
 */
import { StoreError } from "../errors/index.ts";
import type { ArenaRange, Bytes, WorkerId } from "../protocol/index.ts";
import { type Entry, pagesOf, rangeOf } from "./entry.ts";
import { Leavers } from "./leavers.ts";
import { Makers } from "./makers.ts";
import type { RestoreOrder, SpillOrder, SpillPlace } from "./place.ts";
import { PAGE, type RangeAllocator } from "./ranges.ts";

export interface SpillTotals {
  /** Blocks spilled since the start: their bytes before compression, and their number. */
  spilledBytes: Bytes;
  spilledBlocks: number;
  restoredBytes: Bytes;
  restoredBlocks: number;
}

export class Residency {
  readonly leavers = new Leavers();
  readonly makers: Makers;
  readonly totals: SpillTotals = { spilledBytes: 0, spilledBlocks: 0, restoredBytes: 0, restoredBlocks: 0 };
  #orphans: SpillPlace[] = [];
  /** Number of blocks that are not in memory. */
  #away = 0;
  #spillingBytes: Bytes = 0;
  #onDisk: Bytes = 0;
  #ticks = 0;

  /** `target`: how many bytes a worker may be answerable for; null: no limit. */
  constructor(
    private readonly ranges: RangeAllocator,
    target: Bytes | null,
  ) {
    this.makers = new Makers(target);
  }

  /** Bytes being written to disk, which soon become room. */
  get leaving(): Bytes {
    return this.#spillingBytes;
  }

  /** Bytes of blocks that are only on disk. */
  get onDisk(): Bytes {
    return this.#onDisk;
  }

  /** Every block is in memory: none is on disk alone or being read back. */
  get isAllInMemory(): boolean {
    return this.#away === 0;
  }

  get now(): number {
    return this.#ticks;
  }

  tick(): void {
    this.#ticks += 1;
  }

  /** Takes in a block that was just sealed. */
  enter(entry: Entry): void {
    this.#manage(entry, 1);
    this.leavers.settle(entry);
  }

  /** Forgets a block without holders: frees its room and its file. */
  drop(entry: Entry): void {
    if (entry.pins > 0) throw new StoreError(`Block ${entry.id} was released while it is being read.`);
    this.leavers.remove(entry);
    if (entry.state === "spilled" || entry.state === "lost") this.#away -= 1;
    if (entry.state === "spilled") this.#onDisk -= entry.length;
    else if (entry.state !== "lost") this.#leaveArena(entry);
    this.#dropFile(entry);
  }

  /** How much pinning the block would take from what is available. */
  costOfPin(entry: Entry): Bytes {
    const isCounted = entry.state === "restoring" || (entry.state === "resident" && !this.leavers.isCold(entry));
    return isCounted ? 0 : pagesOf(entry);
  }

  pin(entry: Entry): ArenaRange {
    if (entry.state !== "resident" && entry.state !== "spilling") {
      throw new StoreError(`Block ${entry.id} is ${entry.state}: it cannot be read where it is.`);
    }
    entry.pins += 1;
    entry.used = this.#ticks;
    // A pinned block stays in memory although it is being written. The write goes on, so that a later eviction is free.
    if (entry.pins === 1 && entry.state === "spilling") this.#spillingBytes -= pagesOf(entry);
    this.leavers.settle(entry);
    return rangeOf(entry);
  }

  unpin(entry: Entry): void {
    if (entry.pins === 0) throw new StoreError(`Block ${entry.id} is not pinned.`);
    entry.pins -= 1;
    entry.used = this.#ticks;
    if (entry.pins === 0 && entry.state === "spilling") this.#spillingBytes += pagesOf(entry);
    this.leavers.settle(entry);
  }

  evict(entry: Entry): SpillOrder | null {
    const { id } = entry;
    if (entry.state !== "resident" || entry.pins > 0) {
      throw new StoreError(`Block ${id} is ${entry.state} with ${entry.pins} pins: it cannot leave.`);
    }
    if (entry.place !== null) {
      this.#toDisk(entry);
      return null;
    }
    this.#become(entry, "spilling");
    this.#spillingBytes += pagesOf(entry);
    return { id, range: rangeOf(entry), checksum: entry.checksum >>> 0 };
  }

  written(entry: Entry, place: SpillPlace): void {
    entry.place = place;
    this.makers.addSpilled(entry.maker, place.stored);
    this.totals.spilledBytes += entry.length;
    this.totals.spilledBlocks += 1;
    if (entry.pins > 0) this.#become(entry, "resident");
    else {
      this.#spillingBytes -= pagesOf(entry);
      this.#toDisk(entry);
    }
  }

  notWritten(entry: Entry): void {
    if (entry.pins === 0) this.#spillingBytes -= pagesOf(entry);
    entry.used = this.#ticks;
    this.#become(entry, "resident");
  }

  restore(entry: Entry): { readonly order: RestoreOrder; readonly punch: readonly ArenaRange[] } | null {
    const { id, place } = entry;
    if (entry.state !== "spilled" || place === null) throw new StoreError(`Block ${id} is ${entry.state}.`);
    const allocation = this.ranges.allocate(entry.length);
    if (allocation === null) return null;
    entry.page = allocation.range.offset / PAGE;
    entry.state = "restoring";
    this.#onDisk -= entry.length;
    this.#manage(entry, 1);
    const order = { id, range: rangeOf(entry), checksum: entry.checksum >>> 0, place };
    return { order, punch: allocation.punch };
  }

  restored(entry: Entry): void {
    entry.used = this.#ticks;
    this.totals.restoredBytes += entry.length;
    this.totals.restoredBlocks += 1;
    this.#away -= 1;
    this.#become(entry, "resident");
  }

  notRestored(entry: Entry): void {
    this.#leaveArena(entry);
    entry.state = "spilled";
    this.#onDisk += entry.length;
  }

  damaged(entry: Entry): void {
    this.#leaveArena(entry);
    this.#dropFile(entry);
    entry.state = "lost";
  }

  /** The block was made again in a range of its own. The unused end of the range is freed. */
  repaired(entry: Entry, offset: Bytes): void {
    this.ranges.shrink(offset, entry.length);
    entry.page = offset / PAGE;
    entry.used = this.#ticks;
    this.#away -= 1;
    this.#manage(entry, 1);
    this.#become(entry, "resident");
  }

  entrust(entry: Entry, worker: WorkerId): void {
    if (entry.state !== "resident") throw new StoreError(`Block ${entry.id} is ${entry.state}: it is on its way.`);
    const stored = entry.place?.stored ?? 0;
    this.#manage(entry, -1);
    this.makers.addSpilled(entry.maker, -stored);
    entry.maker = worker;
    this.makers.addSpilled(worker, stored);
    this.#manage(entry, 1);
  }

  /**
   * Gives up the file of a block that is being read. The block cannot leave memory now, and only leaving would need the
   * file.
   */
  dropFileOfPinned(entry: Entry): boolean {
    if (entry.state !== "resident" || entry.pins === 0 || entry.place === null) return false;
    this.#dropFile(entry);
    return true;
  }

  takeOrphans(): readonly SpillPlace[] {
    const orphans = this.#orphans;
    if (orphans.length > 0) this.#orphans = [];
    return orphans;
  }

  /** Throws if the running sums differ from the sums over these blocks. Returns their bytes in the arena. */
  assertConsistent(blocks: Iterable<Entry>): Bytes {
    let bytes = 0;
    let cold = 0;
    let warm = 0;
    let spilling = 0;
    let onDisk = 0;
    let away = 0;
    let stored = 0;
    for (const entry of blocks) {
      const { id, state, pins, order } = entry;
      stored += entry.place?.stored ?? 0;
      if (state !== "resident" && state !== "spilling") away += 1;
      if (state !== "spilled" && state !== "lost") bytes += pagesOf(entry);
      if (state === "spilled") onDisk += entry.length;
      if (state === "spilling" && pins === 0) spilling += pagesOf(entry);
      if ((state === "resident" && pins === 0) !== (order !== null)) {
        throw new StoreError(`Block ${id} is ${state} with ${pins} pins, and in the wrong order of use.`);
      }
      if (order !== null && entry.flowing === 0) cold += pagesOf(entry);
      else if (order !== null) warm += pagesOf(entry);
    }
    if (stored !== this.makers.allSpilled) {
      throw new StoreError(`Files of blocks have ${stored} bytes, ${this.makers.allSpilled} were counted.`);
    }
    const { coldBytes, warmBytes } = this.leavers;
    if (
      cold !== coldBytes ||
      warm !== warmBytes ||
      spilling !== this.#spillingBytes ||
      onDisk !== this.#onDisk ||
      away !== this.#away
    ) {
      throw new StoreError(
        `Counted ${cold} bytes cold, ${warm} warm, ${spilling} spilling, ${onDisk} on disk in ${away} blocks; ` +
          `kept ${coldBytes}, ${warmBytes}, ${this.#spillingBytes}, ${this.#onDisk}, ${this.#away}.`,
      );
    }
    return bytes;
  }

  #become(entry: Entry, state: "resident" | "spilling"): void {
    entry.state = state;
    this.leavers.settle(entry);
  }

  #toDisk(entry: Entry): void {
    this.leavers.remove(entry);
    this.#leaveArena(entry);
    entry.state = "spilled";
    this.#away += 1;
    this.#onDisk += entry.length;
  }

  #dropFile(entry: Entry): void {
    if (entry.place === null) return;
    this.#orphans.push(entry.place);
    this.makers.addSpilled(entry.maker, -entry.place.stored);
    entry.place = null;
  }

  #leaveArena(entry: Entry): void {
    this.ranges.free(entry.page * PAGE);
    this.#manage(entry, -1);
  }

  #manage(entry: Entry, sign: 1 | -1): void {
    this.makers.add(entry.maker, sign * pagesOf(entry));
  }
}
