/**
 * The one account of what is in the store: reservations, blocks, who holds a reference to each, and which may leave
 * memory. Pure: it knows neither the arena's file nor disks nor processes; whoever asks for room carries out the punches
 * that come with it, and whoever evicts writes and reads what it is told to.
 *
 * A block's life:
 *
 *            seal             evict             written             restore
 *  reserved ──────▶ resident ───────▶ spilling ─────────▶ spilled ──────────▶ restoring ──┐
 *     │              ▲ │ ▲                │                 ▲ │                  │        │ read
 *     │ abandon      │ │ └── pinned, or ──┘                 │ │      damaged     ▼        │
 *     ▼              │ │  the write failed                  │ │        lost ◀────┘        │
 *   (gone)           │ └─ evict, has its file already ──────┘ │         │ repaired        │
 *                    └────────────────────────────────────────┼─────────┴─────────────────┘
 *                                                             ▼
 *        the last reference goes, in any state ───────────▶ freed (what is being written or read: when that has ended)
 *
 * A pin keeps a block in memory while somebody reads it: only resident and spilling blocks can be pinned, and a pinned
 * one is never evicted. Blocks never change, so the file of a restored block is still right: evicting it again is free.
 */

import { StoreError } from "../errors/index.ts";
import type { ArenaRange, BlockId, BlockRef, Bytes, WorkerId } from "../protocol/index.ts";
import { formatSize } from "../units/index.ts";
import {
  type BlockState,
  type Entry,
  type Holder,
  hold,
  isFlowing,
  letGo,
  pagesOf,
  rangeOf,
  referencesTo,
} from "./entry.ts";
import { Makers } from "./makers.ts";
import type { SpillPlace } from "./place.ts";
import { type Allocation, PAGE, RangeAllocator, wholePages } from "./ranges.ts";
import { UseOrder } from "./use-order.ts";

interface Holdings {
  references: number;
  /** Each block counted once, in whole pages, wherever it is. */
  bytes: Bytes;
}

/** A block that is to be written to disk, or read from it. */
export interface SpillOrder {
  readonly id: BlockId;
  readonly range: ArenaRange;
  readonly checksum: number;
}

export interface RestoreOrder extends SpillOrder {
  readonly place: SpillPlace;
}

export interface SpillTotals {
  /** Bytes of blocks, before compression, and their number: since the start. */
  spilledBytes: Bytes;
  spilledBlocks: number;
  restoredBytes: Bytes;
  restoredBlocks: number;
}

export class Ledger {
  readonly capacity: Bytes;
  readonly #ranges: RangeAllocator;
  readonly #blocks = new Map<BlockId, Entry>();
  readonly #reserved = new Map<Bytes, Bytes>();
  readonly #holdings = new Map<Holder, Holdings>();
  /** Resident and not pinned: those that nobody is about to read, without and with a file, and those that flow. */
  readonly #cold = new UseOrder<Entry>();
  readonly #filed = new UseOrder<Entry>();
  readonly #warm = new UseOrder<Entry>();
  readonly #makers: Makers;
  readonly #totals: SpillTotals = { spilledBytes: 0, spilledBlocks: 0, restoredBytes: 0, restoredBlocks: 0 };
  #orphans: SpillPlace[] = [];
  /** Blocks that are not in memory. */
  #away = 0;
  #spillingBytes: Bytes = 0;
  #onDisk: Bytes = 0;
  #ticks = 0;
  #lastId = 0;

  constructor(size: Bytes, capacity: Bytes, target: Bytes | null = null) {
    this.#makers = new Makers(target);
    this.#ranges = new RangeAllocator(size, capacity);
    this.capacity = this.#ranges.capacity;
  }

  /** Reservations and blocks in memory, in whole pages. */
  get live(): Bytes {
    return this.#ranges.live;
  }

  /** Freed, and not given back to the system. */
  get cached(): Bytes {
    return this.#ranges.cached;
  }

  get room(): Bytes {
    return this.capacity - this.#ranges.live - this.#ranges.lent;
  }

  /** Of the capacity, what is others' for a while. */
  get lent(): Bytes {
    return this.#ranges.lent;
  }

  /** Lends so much, no more than there is room for; gives what has to be given back to the system for it. */
  lend(bytes: Bytes): readonly ArenaRange[] {
    return this.#ranges.lend(bytes);
  }

  /** Room, and what can be made room without anybody missing it: blocks that do not flow, and those on their way out. */
  get available(): Bytes {
    return this.room + this.#coldBytes + this.#spillingBytes;
  }

  /** What could leave memory: all that nobody reads. */
  get evictable(): Bytes {
    return this.#coldBytes + this.#warm.bytes;
  }

  get #coldBytes(): Bytes {
    return this.#cold.bytes + this.#filed.bytes;
  }

  /** Being written: room that is on its way. */
  get leaving(): Bytes {
    return this.#spillingBytes;
  }

  get blocks(): number {
    return this.#blocks.size;
  }

  /** Bytes of blocks that are on disk alone. */
  get onDisk(): Bytes {
    return this.#onDisk;
  }

  /** No block is on disk alone, or on its way from there. */
  get isAllInMemory(): boolean {
    return this.#away === 0;
  }

  /** Workers that are answerable for more than the target. */
  get overTarget(): ReadonlySet<WorkerId> {
    return this.#makers.over;
  }

  get totals(): Readonly<SpillTotals> {
    return this.#totals;
  }

  /** Resident bytes of the blocks that a worker made; null: of all that no living worker is answerable for. */
  managed(worker: WorkerId | null): Bytes {
    return this.#makers.managed(worker);
  }

  /** Time passes: what is used from now on is used later than what was used before. */
  tick(): void {
    this.#ticks += 1;
  }

  /** Throws where a block of this size could never be there; the caller says to whom it belongs. */
  assertFits(bytes: Bytes, what: string): void {
    if (wholePages(bytes) <= this.capacity) return;
    throw new StoreError(
      `${what} needs ${formatSize(bytes)} in one block, and the store's capacity is ${formatSize(this.capacity)}. ` +
        "Give the session a larger objectStoreMemory, or make the block smaller (fewer rows in a batch, smaller rows).",
    );
  }

  /** Null where there is no room now. */
  reserve(bytes: Bytes): Allocation | null {
    const allocation = this.#ranges.allocate(bytes);
    if (allocation !== null) this.#reserved.set(allocation.range.offset, allocation.range.length);
    return allocation;
  }

  /** The reservation is written; what was not used of it is free again. */
  seal(
    range: ArenaRange,
    length: Bytes,
    rows: number,
    checksum: number,
    holder: Holder,
    maker: WorkerId | null,
  ): BlockRef {
    this.#unreserve(range);
    this.#ranges.shrink(range.offset, length);
    this.#lastId += 1;
    const id = this.#lastId as BlockId;
    const entry: Entry = {
      id,
      length,
      checksum: checksum | 0,
      maker,
      holder: null,
      count: 0,
      others: null,
      state: "resident",
      page: range.offset / PAGE,
      place: null,
      pins: 0,
      flowing: 0,
      used: this.#ticks,
      order: null,
      older: null,
      younger: null,
    };
    this.#blocks.set(id, entry);
    this.#manage(entry, 1);
    this.#retain(entry, holder);
    this.#settle(entry);
    return { id, length, rows };
  }

  abandon(range: ArenaRange): void {
    this.#unreserve(range);
    this.#ranges.free(range.offset);
  }

  has(id: BlockId): boolean {
    return this.#blocks.has(id);
  }

  stateOf(id: BlockId): BlockState {
    return this.#entry(id).state;
  }

  lengthOf(id: BlockId): Bytes {
    return this.#entry(id).length;
  }

  isInMemory(id: BlockId): boolean {
    const { state } = this.#entry(id);
    return state === "resident" || state === "spilling";
  }

  /** What pinning the block would take from `available`. */
  costOfPin(id: BlockId): Bytes {
    const entry = this.#entry(id);
    const isCold = entry.order === this.#cold || entry.order === this.#filed;
    const counted = entry.state === "restoring" || (entry.state === "resident" && !isCold);
    return counted ? 0 : pagesOf(entry);
  }

  retain(id: BlockId, holder: Holder): void {
    const entry = this.#entry(id);
    this.#retain(entry, holder);
    if (isFlowing(holder) && entry.flowing === 1) this.#settle(entry);
  }

  #retain(entry: Entry, holder: Holder): void {
    this.#count(holder, 1, hold(entry, holder) ? pagesOf(entry) : 0);
    if (isFlowing(holder)) entry.flowing += 1;
  }

  #count(holder: Holder, sign: 1 | -1, bytes: Bytes): void {
    let holdings = this.#holdings.get(holder);
    if (holdings === undefined) {
      holdings = { references: 0, bytes: 0 };
      this.#holdings.set(holder, holdings);
    }
    holdings.references += sign;
    holdings.bytes += sign * bytes;
    if (holdings.references === 0) this.#holdings.delete(holder);
  }

  /** Frees the block with its last reference. */
  release(id: BlockId, holder: Holder): void {
    const entry = this.#entry(id);
    const left = letGo(entry, holder);
    if (left === null) throw new StoreError(`Block ${id} is not held by ${holder}, which gave it back.`);
    this.#count(holder, -1, left === 0 ? pagesOf(entry) : 0);
    if (isFlowing(holder)) {
      entry.flowing -= 1;
      if (entry.flowing === 0) this.#settle(entry);
    }
    if (entry.holder === null && entry.state !== "spilling" && entry.state !== "restoring") this.#free(entry);
  }

  /** One of the references of `from` is now one of `to`. */
  pass(id: BlockId, from: Holder, to: Holder): void {
    // With one reference, as most have, no table is made for two.
    const entry = this.#entry(id);
    if (entry.holder !== from || entry.count !== 1 || entry.others !== null || isFlowing(from) !== isFlowing(to)) {
      this.retain(id, to);
      this.release(id, from);
      return;
    }
    this.#count(from, -1, pagesOf(entry));
    entry.holder = to;
    this.#count(to, 1, pagesOf(entry));
  }

  holds(holder: Holder): Readonly<Holdings> {
    return this.#holdings.get(holder) ?? { references: 0, bytes: 0 };
  }

  heldBy(id: BlockId): readonly Holder[] {
    const { holder, others } = this.#entry(id);
    if (holder === null) return [];
    return others === null ? [holder] : [holder, ...others.keys()];
  }

  /** Where it lies, and stays until it is unpinned as often. Only what is in memory can be pinned. */
  pin(id: BlockId): ArenaRange {
    const entry = this.#entry(id);
    if (entry.state !== "resident" && entry.state !== "spilling") {
      throw new StoreError(`Block ${id} is ${entry.state}: it cannot be read where it is.`);
    }
    entry.pins += 1;
    entry.used = this.#ticks;
    // What is being written will stay: the write goes on, for a later eviction that is free then.
    if (entry.pins === 1 && entry.state === "spilling") this.#spillingBytes -= pagesOf(entry);
    this.#settle(entry);
    return rangeOf(entry);
  }

  unpin(id: BlockId): void {
    const entry = this.#entry(id);
    if (entry.pins === 0) throw new StoreError(`Block ${id} is not pinned.`);
    entry.pins -= 1;
    entry.used = this.#ticks;
    if (entry.pins === 0 && entry.state === "spilling") this.#spillingBytes += pagesOf(entry);
    this.#settle(entry);
  }

  /**
   * Those that do not flow, least recently used first; among equals one that has its file, because evicting it is free.
   * Lazily: there may be a million, and a few are enough. The one told last may be evicted meanwhile.
   */
  *cold(): IterableIterator<BlockId> {
    let unfiled = this.#cold.oldest;
    let filed = this.#filed.oldest;
    while (unfiled !== null || filed !== null) {
      if (filed !== null && (unfiled === null || filed.used <= unfiled.used)) {
        const { id } = filed;
        filed = filed.younger;
        yield id;
      } else if (unfiled !== null) {
        const { id } = unfiled;
        unfiled = unfiled.younger;
        yield id;
      }
    }
  }

  /** Those that flow, the one used last first: queues are taken from the other end. */
  *warm(): IterableIterator<BlockId> {
    for (let entry = this.#warm.youngest; entry !== null; ) {
      const { id } = entry;
      entry = entry.older;
      yield id;
    }
  }

  hasFile(id: BlockId): boolean {
    return this.#entry(id).place !== null;
  }

  makerOf(id: BlockId): WorkerId | null {
    return this.#makers.answerable(this.#entry(id).maker);
  }

  /** The block leaves memory: at once where it has its file (null), else when it is written, which is to be ordered. */
  evict(id: BlockId): SpillOrder | null {
    const entry = this.#entry(id);
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

  /** The write has ended. A block that was pinned meanwhile stays, and has its file. */
  written(id: BlockId, place: SpillPlace): void {
    const entry = this.#entry(id);
    entry.place = place;
    this.#totals.spilledBytes += entry.length;
    this.#totals.spilledBlocks += 1;
    if (entry.pins > 0) this.#become(entry, "resident");
    else {
      this.#spillingBytes -= pagesOf(entry);
      this.#toDisk(entry);
    }
    if (entry.holder === null) this.#free(entry);
  }

  notWritten(id: BlockId): void {
    const entry = this.#entry(id);
    if (entry.pins === 0) this.#spillingBytes -= pagesOf(entry);
    entry.used = this.#ticks;
    this.#become(entry, "resident");
    if (entry.holder === null) this.#free(entry);
  }

  /** The block comes back: where to, and the holes to punch before; null where there is no room now. */
  restore(id: BlockId): { readonly order: RestoreOrder; readonly punch: readonly ArenaRange[] } | null {
    const entry = this.#entry(id);
    if (entry.state !== "spilled" || entry.place === null) throw new StoreError(`Block ${id} is ${entry.state}.`);
    const allocation = this.#ranges.allocate(entry.length);
    if (allocation === null) return null;
    entry.page = allocation.range.offset / PAGE;
    entry.state = "restoring";
    this.#onDisk -= entry.length;
    this.#manage(entry, 1);
    const order = { id, range: rangeOf(entry), checksum: entry.checksum >>> 0, place: entry.place };
    return { order, punch: allocation.punch };
  }

  restored(id: BlockId): void {
    const entry = this.#entry(id);
    entry.used = this.#ticks;
    this.#totals.restoredBytes += entry.length;
    this.#totals.restoredBlocks += 1;
    this.#away -= 1;
    this.#become(entry, "resident");
    if (entry.holder === null) this.#free(entry);
  }

  /** It could not be brought back now, and is still on disk. */
  notRestored(id: BlockId): void {
    const entry = this.#entry(id);
    this.#ranges.free(entry.page * PAGE);
    this.#manage(entry, -1);
    entry.state = "spilled";
    this.#onDisk += entry.length;
    if (entry.holder === null) this.#free(entry);
  }

  /** Its file is not what was written: only making it again can bring it back. */
  damaged(id: BlockId): void {
    const entry = this.#entry(id);
    this.#ranges.free(entry.page * PAGE);
    this.#manage(entry, -1);
    if (entry.place !== null) this.#orphans.push(entry.place);
    entry.place = null;
    entry.state = "lost";
    if (entry.holder === null) this.#free(entry);
  }

  /** A lost block was made again, the same, in a range reserved for it. */
  repaired(id: BlockId, range: ArenaRange): void {
    const entry = this.#entry(id);
    if (entry.state !== "lost") throw new StoreError(`Block ${id} is ${entry.state}, not lost.`);
    this.#unreserve(range);
    this.#ranges.shrink(range.offset, entry.length);
    entry.page = range.offset / PAGE;
    entry.used = this.#ticks;
    this.#away -= 1;
    this.#manage(entry, 1);
    this.#become(entry, "resident");
  }

  /** Places on disk that nobody needs any more, told once. */
  takeOrphans(): readonly SpillPlace[] {
    const orphans = this.#orphans;
    if (orphans.length > 0) this.#orphans = [];
    return orphans;
  }

  /** Nobody alive is answerable for what the worker made. */
  forgetMaker(worker: WorkerId): void {
    this.#makers.forget(worker);
  }

  /** Throws where the sum is not the live blocks. Looks at everything: for tests and the end of a job. */
  assertConsistent(): void {
    this.#ranges.assertConsistent();
    let bytes = 0;
    let references = 0;
    let cold = 0;
    let warm = 0;
    let spilling = 0;
    let onDisk = 0;
    let away = 0;
    for (const entry of this.#blocks.values()) {
      const { id, state, pins, order } = entry;
      const isMoving = state === "spilling" || state === "restoring";
      if (entry.holder === null && !isMoving) throw new StoreError(`Block ${id} is ${state} and held by nobody.`);
      if (state !== "resident" && state !== "spilling") away += 1;
      if (state !== "spilled" && state !== "lost") bytes += pagesOf(entry);
      if (state === "spilled") onDisk += entry.length;
      if (state === "spilling" && pins === 0) spilling += pagesOf(entry);
      if ((state === "resident" && pins === 0) !== (order !== null)) {
        throw new StoreError(`Block ${id} is ${state} with ${pins} pins, and in the wrong order of use.`);
      }
      if (order !== null && entry.flowing === 0) cold += pagesOf(entry);
      else if (order !== null) warm += pagesOf(entry);
      references += referencesTo(entry);
    }
    for (const length of this.#reserved.values()) bytes += length;
    if (bytes !== this.live) throw new StoreError(`The ledger holds ${bytes} bytes, ${this.live} are live.`);
    for (const holdings of this.#holdings.values()) references -= holdings.references;
    if (references !== 0) throw new StoreError(`Blocks and holders differ by ${references} references.`);
    if (
      cold !== this.#coldBytes ||
      warm !== this.#warm.bytes ||
      spilling !== this.#spillingBytes ||
      onDisk !== this.#onDisk ||
      away !== this.#away
    ) {
      throw new StoreError(
        `Counted ${cold} bytes cold, ${spilling} spilling, ${onDisk} on disk in ${away} blocks; ` +
          `kept ${this.#coldBytes}, ${this.#spillingBytes}, ${this.#onDisk}, ${this.#away}.`,
      );
    }
  }

  #become(entry: Entry, state: "resident" | "spilling"): void {
    entry.state = state;
    this.#settle(entry);
  }

  #toDisk(entry: Entry): void {
    this.#unlist(entry);
    this.#ranges.free(entry.page * PAGE);
    this.#manage(entry, -1);
    entry.state = "spilled";
    this.#away += 1;
    this.#onDisk += entry.length;
  }

  #free(entry: Entry): void {
    if (entry.pins > 0) throw new StoreError(`Block ${entry.id} was released while somebody reads it.`);
    this.#unlist(entry);
    this.#blocks.delete(entry.id);
    if (entry.state === "spilled" || entry.state === "lost") this.#away -= 1;
    if (entry.state === "spilled") this.#onDisk -= entry.length;
    else if (entry.state !== "lost") {
      this.#ranges.free(entry.page * PAGE);
      this.#manage(entry, -1);
    }
    if (entry.place !== null) this.#orphans.push(entry.place);
  }

  /** Puts the block at the young end of the order of use it belongs to now, if any. */
  #settle(entry: Entry): void {
    this.#unlist(entry);
    if (entry.state !== "resident" || entry.pins > 0) return;
    const order = entry.flowing > 0 ? this.#warm : entry.place === null ? this.#cold : this.#filed;
    order.add(entry, pagesOf(entry));
  }

  #unlist(entry: Entry): void {
    entry.order?.remove(entry, pagesOf(entry));
  }

  #manage(entry: Entry, sign: 1 | -1): void {
    this.#makers.add(entry.maker, sign * pagesOf(entry));
  }

  #unreserve(range: ArenaRange): void {
    if (!this.#reserved.delete(range.offset)) {
      throw new StoreError(`The range at ${range.offset} is not reserved.`);
    }
  }

  #entry(id: BlockId): Entry {
    const entry = this.#blocks.get(id);
    if (entry === undefined) throw new StoreError(`There is no block ${id}: it was freed, or never made.`);
    return entry;
  }
}
