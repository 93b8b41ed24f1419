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
import type { SpillPlace } from "./place.ts";
import { type Allocation, RangeAllocator, wholePages } from "./ranges.ts";

/**
 * Who keeps a block alive: the program, a job that reads it as its input or has it in a queue, a task. Only in the last
 * two is the block flowing: on its way through a job, and soon to be used.
 */
export type Holder = "program" | `input:${string}` | `job:${string}` | `task:${string}`;

export type BlockState = "resident" | "spilling" | "spilled" | "restoring" | "lost";

interface Entry {
  readonly ref: BlockRef;
  readonly checksum: number;
  /** Who made it; null: the program. */
  readonly maker: WorkerId | null;
  readonly holders: Map<Holder, number>;
  state: BlockState;
  /** In the arena; meaningless where it is only on disk. */
  offset: Bytes;
  place: SpillPlace | null;
  pins: number;
  /** References by jobs' queues and tasks. */
  flowing: number;
  /** When it was last used, in ticks. */
  used: number;
}

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
  /** Resident and not pinned, in the order of use: those that nobody is about to read, and those that flow. */
  readonly #cold = new Map<BlockId, Entry>();
  readonly #warm = new Map<BlockId, Entry>();
  readonly #managed = new Map<WorkerId | null, Bytes>();
  readonly #gone = new Set<WorkerId>();
  readonly #totals: SpillTotals = { spilledBytes: 0, spilledBlocks: 0, restoredBytes: 0, restoredBlocks: 0 };
  #orphans: SpillPlace[] = [];
  #coldBytes: Bytes = 0;
  #warmBytes: Bytes = 0;
  #spillingBytes: Bytes = 0;
  #onDisk: Bytes = 0;
  #ticks = 0;
  #lastId = 0;

  constructor(size: Bytes, capacity: Bytes) {
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
    return this.capacity - this.#ranges.live;
  }

  /** Room, and what can be made room without anybody missing it: blocks that do not flow, and those on their way out. */
  get available(): Bytes {
    return this.room + this.#coldBytes + this.#spillingBytes;
  }

  /** What could leave memory: all that nobody reads. */
  get evictable(): Bytes {
    return this.#coldBytes + this.#warmBytes;
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

  get totals(): Readonly<SpillTotals> {
    return this.#totals;
  }

  /** Resident bytes of the blocks that a worker made; null: of all that no living worker is answerable for. */
  managed(worker: WorkerId | null): Bytes {
    return this.#managed.get(worker) ?? 0;
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
    const ref: BlockRef = { id: this.#lastId as BlockId, length, rows };
    const entry: Entry = {
      ref,
      checksum,
      maker,
      holders: new Map(),
      state: "resident",
      offset: range.offset,
      place: null,
      pins: 0,
      flowing: 0,
      used: this.#ticks,
    };
    this.#blocks.set(ref.id, entry);
    this.#manage(entry, 1);
    this.#settle(entry);
    this.retain(ref.id, holder);
    return ref;
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
    return this.#entry(id).ref.length;
  }

  isInMemory(id: BlockId): boolean {
    const { state } = this.#entry(id);
    return state === "resident" || state === "spilling";
  }

  /** What pinning the block would take from `available`. */
  costOfPin(id: BlockId): Bytes {
    const entry = this.#entry(id);
    const counted = entry.state === "restoring" || (entry.state === "resident" && !this.#cold.has(id));
    return counted ? 0 : pagesOf(entry);
  }

  retain(id: BlockId, holder: Holder): void {
    const entry = this.#entry(id);
    const count = entry.holders.get(holder) ?? 0;
    entry.holders.set(holder, count + 1);
    const holdings = this.#holdings.get(holder) ?? { references: 0, bytes: 0 };
    holdings.references += 1;
    if (count === 0) holdings.bytes += pagesOf(entry);
    this.#holdings.set(holder, holdings);
    if (isFlowing(holder)) this.#flow(entry, 1);
  }

  /** Frees the block with its last reference. */
  release(id: BlockId, holder: Holder): void {
    const entry = this.#entry(id);
    const count = entry.holders.get(holder);
    const holdings = this.#holdings.get(holder);
    if (count === undefined || holdings === undefined) {
      throw new StoreError(`Block ${id} is not held by ${holder}, which gave it back.`);
    }
    holdings.references -= 1;
    if (count > 1) entry.holders.set(holder, count - 1);
    else {
      entry.holders.delete(holder);
      holdings.bytes -= pagesOf(entry);
    }
    if (holdings.references === 0) this.#holdings.delete(holder);
    if (isFlowing(holder)) this.#flow(entry, -1);
    if (entry.holders.size === 0 && entry.state !== "spilling" && entry.state !== "restoring") this.#free(entry);
  }

  /** One of the references of `from` is now one of `to`. */
  pass(id: BlockId, from: Holder, to: Holder): void {
    this.retain(id, to);
    this.release(id, from);
  }

  holds(holder: Holder): Readonly<Holdings> {
    return this.#holdings.get(holder) ?? { references: 0, bytes: 0 };
  }

  heldBy(id: BlockId): IterableIterator<Holder> {
    return this.#entry(id).holders.keys();
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
    return { offset: entry.offset, length: entry.ref.length };
  }

  unpin(id: BlockId): void {
    const entry = this.#entry(id);
    if (entry.pins === 0) throw new StoreError(`Block ${id} is not pinned.`);
    entry.pins -= 1;
    entry.used = this.#ticks;
    if (entry.pins === 0 && entry.state === "spilling") this.#spillingBytes += pagesOf(entry);
    this.#settle(entry);
  }

  /** Those that do not flow, least recently used first; among equals one that has its file, because evicting it is free. */
  *cold(): IterableIterator<BlockId> {
    let equals: Entry[] = [];
    // Lazily: there may be a million, and a few are enough.
    for (const entry of this.#cold.values()) {
      const [first] = equals;
      if (first !== undefined && first.used !== entry.used) {
        yield* withFileFirst(equals);
        equals = [];
      }
      equals.push(entry);
    }
    yield* withFileFirst(equals);
  }

  /** Those that flow, the one used last first: queues are taken from the other end. */
  *warm(): IterableIterator<BlockId> {
    for (const { ref } of [...this.#warm.values()].reverse()) yield ref.id;
  }

  hasFile(id: BlockId): boolean {
    return this.#entry(id).place !== null;
  }

  makerOf(id: BlockId): WorkerId | null {
    return this.#answerable(this.#entry(id));
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
    return { id, range: { offset: entry.offset, length: entry.ref.length }, checksum: entry.checksum };
  }

  /** The write has ended. A block that was pinned meanwhile stays, and has its file. */
  written(id: BlockId, place: SpillPlace): void {
    const entry = this.#entry(id);
    entry.place = place;
    this.#totals.spilledBytes += entry.ref.length;
    this.#totals.spilledBlocks += 1;
    if (entry.pins > 0) this.#become(entry, "resident");
    else {
      this.#spillingBytes -= pagesOf(entry);
      this.#toDisk(entry);
    }
    if (entry.holders.size === 0) this.#free(entry);
  }

  notWritten(id: BlockId): void {
    const entry = this.#entry(id);
    if (entry.pins === 0) this.#spillingBytes -= pagesOf(entry);
    entry.used = this.#ticks;
    this.#become(entry, "resident");
    if (entry.holders.size === 0) this.#free(entry);
  }

  /** The block comes back: where to, and the holes to punch before; null where there is no room now. */
  restore(id: BlockId): { readonly order: RestoreOrder; readonly punch: readonly ArenaRange[] } | null {
    const entry = this.#entry(id);
    if (entry.state !== "spilled" || entry.place === null) throw new StoreError(`Block ${id} is ${entry.state}.`);
    const allocation = this.#ranges.allocate(entry.ref.length);
    if (allocation === null) return null;
    entry.offset = allocation.range.offset;
    entry.state = "restoring";
    this.#onDisk -= entry.ref.length;
    this.#manage(entry, 1);
    const range = { offset: entry.offset, length: entry.ref.length };
    return { order: { id, range, checksum: entry.checksum, place: entry.place }, punch: allocation.punch };
  }

  restored(id: BlockId): void {
    const entry = this.#entry(id);
    entry.used = this.#ticks;
    this.#totals.restoredBytes += entry.ref.length;
    this.#totals.restoredBlocks += 1;
    this.#become(entry, "resident");
    if (entry.holders.size === 0) this.#free(entry);
  }

  /** It could not be brought back now, and is still on disk. */
  notRestored(id: BlockId): void {
    const entry = this.#entry(id);
    this.#ranges.free(entry.offset);
    this.#manage(entry, -1);
    entry.state = "spilled";
    this.#onDisk += entry.ref.length;
    if (entry.holders.size === 0) this.#free(entry);
  }

  /** Its file is not what was written: only making it again can bring it back. */
  damaged(id: BlockId): void {
    const entry = this.#entry(id);
    this.#ranges.free(entry.offset);
    this.#manage(entry, -1);
    if (entry.place !== null) this.#orphans.push(entry.place);
    entry.place = null;
    entry.state = "lost";
    if (entry.holders.size === 0) this.#free(entry);
  }

  /** A lost block was made again, the same, in a range reserved for it. */
  repaired(id: BlockId, range: ArenaRange): void {
    const entry = this.#entry(id);
    if (entry.state !== "lost") throw new StoreError(`Block ${id} is ${entry.state}, not lost.`);
    this.#unreserve(range);
    this.#ranges.shrink(range.offset, entry.ref.length);
    entry.offset = range.offset;
    entry.used = this.#ticks;
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
    const bytes = this.managed(worker);
    this.#managed.delete(worker);
    this.#gone.add(worker);
    this.#managed.set(null, this.managed(null) + bytes);
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
    for (const entry of this.#blocks.values()) {
      const { ref, holders, state, pins } = entry;
      const isMoving = state === "spilling" || state === "restoring";
      if (holders.size === 0 && !isMoving) throw new StoreError(`Block ${ref.id} is ${state} and held by nobody.`);
      if (state !== "spilled" && state !== "lost") bytes += pagesOf(entry);
      if (state === "spilled") onDisk += ref.length;
      if (state === "spilling" && pins === 0) spilling += pagesOf(entry);
      const isIdle = state === "resident" && pins === 0;
      if (
        isIdle !== (this.#cold.has(ref.id) || this.#warm.has(ref.id)) ||
        (isIdle && this.#cold.has(ref.id) && this.#warm.has(ref.id))
      ) {
        throw new StoreError(`Block ${ref.id} is ${state} with ${pins} pins, and in the wrong order of use.`);
      }
      if (isIdle && entry.flowing === 0) cold += pagesOf(entry);
      else if (isIdle) warm += pagesOf(entry);
      for (const count of holders.values()) references += count;
    }
    for (const length of this.#reserved.values()) bytes += length;
    if (bytes !== this.live) throw new StoreError(`The ledger holds ${bytes} bytes, ${this.live} are live.`);
    for (const holdings of this.#holdings.values()) references -= holdings.references;
    if (references !== 0) throw new StoreError(`Blocks and holders differ by ${references} references.`);
    if (
      cold !== this.#coldBytes ||
      warm !== this.#warmBytes ||
      spilling !== this.#spillingBytes ||
      onDisk !== this.#onDisk
    ) {
      throw new StoreError(
        `Counted ${cold} bytes cold, ${spilling} spilling, ${onDisk} on disk; kept ${this.#coldBytes}, ${this.#spillingBytes}, ${this.#onDisk}.`,
      );
    }
  }

  #become(entry: Entry, state: "resident" | "spilling"): void {
    entry.state = state;
    this.#settle(entry);
  }

  #toDisk(entry: Entry): void {
    this.#unlist(entry);
    this.#ranges.free(entry.offset);
    this.#manage(entry, -1);
    entry.state = "spilled";
    this.#onDisk += entry.ref.length;
  }

  #free(entry: Entry): void {
    if (entry.pins > 0) throw new StoreError(`Block ${entry.ref.id} was released while somebody reads it.`);
    this.#unlist(entry);
    this.#blocks.delete(entry.ref.id);
    if (entry.state === "spilled") this.#onDisk -= entry.ref.length;
    else if (entry.state !== "lost") {
      this.#ranges.free(entry.offset);
      this.#manage(entry, -1);
    }
    if (entry.place !== null) this.#orphans.push(entry.place);
  }

  #flow(entry: Entry, by: number): void {
    entry.flowing += by;
    if (by > 0 ? entry.flowing === 1 : entry.flowing === 0) this.#settle(entry);
  }

  /** Puts the block at the young end of the order of use it belongs to now, if any. */
  #settle(entry: Entry): void {
    this.#unlist(entry);
    if (entry.state !== "resident" || entry.pins > 0) return;
    if (entry.flowing > 0) {
      this.#warm.set(entry.ref.id, entry);
      this.#warmBytes += pagesOf(entry);
    } else {
      this.#cold.set(entry.ref.id, entry);
      this.#coldBytes += pagesOf(entry);
    }
  }

  #unlist(entry: Entry): void {
    if (this.#cold.delete(entry.ref.id)) this.#coldBytes -= pagesOf(entry);
    else if (this.#warm.delete(entry.ref.id)) this.#warmBytes -= pagesOf(entry);
  }

  #manage(entry: Entry, sign: 1 | -1): void {
    const maker = this.#answerable(entry);
    this.#managed.set(maker, this.managed(maker) + sign * pagesOf(entry));
  }

  #answerable({ maker }: Entry): WorkerId | null {
    return maker === null || this.#gone.has(maker) ? null : maker;
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

function isFlowing(holder: Holder): boolean {
  return holder.startsWith("job:") || holder.startsWith("task:");
}

function pagesOf({ ref }: Entry): Bytes {
  return wholePages(ref.length);
}

function* withFileFirst(equals: readonly Entry[]): IterableIterator<BlockId> {
  for (const entry of equals) if (entry.place !== null) yield entry.ref.id;
  for (const entry of equals) if (entry.place === null) yield entry.ref.id;
}
