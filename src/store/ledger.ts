/**
 * The one account of what is in the store: reservations, blocks, the holders of each block, and which blocks may leave
 * memory. Pure: it knows neither the arena's file nor disks nor processes. The caller that asks for room carries out
 * the punches that come with it; the caller that evicts or restores carries out the write or the read.
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
 * A pin keeps a block in memory while it is read: only resident and spilling blocks can be pinned, and a pinned block
 * is never evicted. Blocks never change, so the file of a restored block stays valid: evicting the block again is free.
 *
 * This file knows which blocks there are and who holds them; `residency.ts` moves them between memory and disk.
 */

import { StoreError } from "../errors/index.ts";
import type { ArenaRange, BlockId, BlockRef, BlockState, Bytes, WorkerId } from "../protocol/index.ts";
import { formatSize } from "../units/index.ts";
import { type Entry, type Holder, hold, isFlowing, letGo, pagesOf, referencesTo } from "./entry.ts";
import { type Held, Holdings } from "./holdings.ts";
import type { RestoreOrder, SpillOrder, SpillPlace } from "./place.ts";
import { type Allocation, PAGE, RangeAllocator, wholePages } from "./ranges.ts";
import { Residency, type SpillTotals } from "./residency.ts";

/** Is told of blocks that moved between memory and disk, and of freed blocks. */
export interface BlockWatch {
  moved(id: BlockId, to: BlockState): void;
  /** Its file was written, and it stays in memory, because it is being read. */
  kept(id: BlockId): void;
  freed(id: BlockId): void;
}

export class Ledger {
  readonly capacity: Bytes;
  readonly #ranges: RangeAllocator;
  readonly #residency: Residency;
  readonly #blocks = new Map<BlockId, Entry>();
  readonly #reserved = new Map<Bytes, Bytes>();
  readonly #holdings = new Holdings();
  readonly #watch: BlockWatch | null;
  #lastId = 0;

  constructor(size: Bytes, capacity: Bytes, target: Bytes | null = null, watch: BlockWatch | null = null) {
    this.#watch = watch;
    this.#ranges = new RangeAllocator(size, capacity);
    this.#residency = new Residency(this.#ranges, target);
    this.capacity = this.#ranges.capacity;
  }

  /** Reservations and blocks in memory, in whole pages. */
  get live(): Bytes {
    return this.#ranges.live;
  }

  /** Freed, and not yet given back to the system. */
  get cached(): Bytes {
    return this.#ranges.cached;
  }

  get room(): Bytes {
    return this.capacity - this.#ranges.live - this.#ranges.lent;
  }

  /** The part of the capacity that is lent out. */
  get lent(): Bytes {
    return this.#ranges.lent;
  }

  /** Lends this many bytes, limited to the free room. Returns the ranges to give back to the system for it. */
  lend(bytes: Bytes): readonly ArenaRange[] {
    return this.#ranges.lend(bytes);
  }

  /** Removes this many cached bytes. Returns the ranges to give back to the system. */
  giveBack(bytes: Bytes): readonly ArenaRange[] {
    return this.#ranges.giveBack(bytes);
  }

  /**
   * Free room, and the room of blocks that can leave memory without delaying a task: those that do not flow, and those
   * already being written to disk.
   */
  get available(): Bytes {
    return this.room + this.#residency.leavers.coldBytes + this.#residency.leaving;
  }

  /** The bytes of all blocks that could leave memory: those that are not being read. */
  get evictable(): Bytes {
    const { coldBytes, warmBytes } = this.#residency.leavers;
    return coldBytes + warmBytes;
  }

  /** Bytes being written to disk, which soon become room. */
  get leaving(): Bytes {
    return this.#residency.leaving;
  }

  get blocks(): number {
    return this.#blocks.size;
  }

  /** Bytes of blocks that are only on disk. */
  get onDisk(): Bytes {
    return this.#residency.onDisk;
  }

  /** Every block is in memory: none is on disk alone or being read back. */
  get isAllInMemory(): boolean {
    return this.#residency.isAllInMemory;
  }

  /** Workers that are answerable for more than the target. */
  get overTarget(): ReadonlySet<WorkerId> {
    return this.#residency.makers.over;
  }

  get totals(): Readonly<SpillTotals> {
    return this.#residency.totals;
  }

  /**
   * Resident bytes of the blocks that a worker is answerable for; null: of the blocks that no living worker is
   * answerable for.
   */
  managed(worker: WorkerId | null): Bytes {
    return this.#residency.makers.managed(worker);
  }

  /**
   * Bytes on disk, after compression, of the blocks that a worker is answerable for. A restored block keeps its file
   * and still counts.
   */
  spilled(worker: WorkerId | null): Bytes {
    return this.#residency.makers.spilled(worker);
  }

  /** The same for all blocks. */
  get spilledBytes(): Bytes {
    return this.#residency.makers.allSpilled;
  }

  /** How many bytes a worker may be answerable for; null: no limit. */
  set target(target: Bytes | null) {
    this.#residency.makers.target = target;
  }

  /** Advances the clock of use: a later use counts as more recent. */
  tick(): void {
    this.#residency.tick();
  }

  /** Throws if a block of this size can never fit into the store. `what` names the owner of the block in the error. */
  assertFits(bytes: Bytes, what: string): void {
    if (wholePages(bytes) <= this.capacity) return;
    throw new StoreError(
      `${what} needs ${formatSize(bytes)} in one block, and the store's capacity is ${formatSize(this.capacity)}. ` +
        "Give the session a larger objectStoreMemory, or make the block smaller (fewer rows in a batch, smaller rows).",
    );
  }

  /** Null: there is no room now. */
  reserve(bytes: Bytes): Allocation | null {
    const allocation = this.#ranges.allocate(bytes);
    if (allocation !== null) this.#reserved.set(allocation.range.offset, allocation.range.length);
    return allocation;
  }

  /** Turns a written reservation into a block. The unused end of the reservation is free again. */
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
      used: this.#residency.now,
      order: null,
      older: null,
      younger: null,
    };
    this.#blocks.set(id, entry);
    this.#retain(entry, holder);
    this.#residency.enter(entry);
    return { id, length, rows };
  }

  abandon(range: ArenaRange): void {
    this.#unreserve(range);
    this.#ranges.free(range.offset);
  }

  has(id: BlockId): boolean {
    return this.#blocks.has(id);
  }

  /** Every block with its state. */
  *states(): Iterable<readonly [BlockId, BlockState]> {
    for (const { id, state } of this.#blocks.values()) yield [id, state];
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

  /** How much pinning the block would take from `available`. */
  costOfPin(id: BlockId): Bytes {
    return this.#residency.costOfPin(this.#entry(id));
  }

  retain(id: BlockId, holder: Holder): void {
    const entry = this.#entry(id);
    this.#retain(entry, holder);
    if (isFlowing(holder) && entry.flowing === 1) this.#residency.leavers.settle(entry);
  }

  /** Frees the block with its last reference. */
  release(id: BlockId, holder: Holder): void {
    const entry = this.#entry(id);
    const left = letGo(entry, holder);
    if (left === null) throw new StoreError(`Block ${id} is not held by ${holder}, which gave it back.`);
    this.#holdings.count(holder, -1, left === 0 ? pagesOf(entry) : 0);
    if (isFlowing(holder)) {
      entry.flowing -= 1;
      if (entry.flowing === 0) this.#residency.leavers.settle(entry);
    }
    if (entry.state !== "spilling" && entry.state !== "restoring") this.#freeUnheld(entry);
  }

  /** Hands one reference of `from` over to `to`. */
  pass(id: BlockId, from: Holder, to: Holder): void {
    // Most blocks have one reference: then its holder is replaced without making a table.
    const entry = this.#entry(id);
    if (entry.holder !== from || entry.count !== 1 || entry.others !== null || isFlowing(from) !== isFlowing(to)) {
      this.retain(id, to);
      this.release(id, from);
      return;
    }
    this.#holdings.count(from, -1, pagesOf(entry));
    entry.holder = to;
    this.#holdings.count(to, 1, pagesOf(entry));
  }

  holds(holder: Holder): Readonly<Held> {
    return this.#holdings.of(holder);
  }

  heldBy(id: BlockId): readonly Holder[] {
    const { holder, others } = this.#entry(id);
    if (holder === null) return [];
    return others === null ? [holder] : [holder, ...others.keys()];
  }

  /**
   * Where the block lies. It stays there until it has been unpinned as often as pinned. Only a block in memory can be
   * pinned.
   */
  pin(id: BlockId): ArenaRange {
    return this.#residency.pin(this.#entry(id));
  }

  unpin(id: BlockId): void {
    this.#residency.unpin(this.#entry(id));
  }

  /** Blocks that do not flow, in the order in which they should leave memory; lazy. */
  cold(): IterableIterator<BlockId> {
    return this.#residency.leavers.cold();
  }

  /** Blocks that flow, in the same way. */
  warm(): IterableIterator<BlockId> {
    return this.#residency.leavers.warm();
  }

  hasFile(id: BlockId): boolean {
    return this.#entry(id).place !== null;
  }

  makerOf(id: BlockId): WorkerId | null {
    return this.#residency.makers.answerable(this.#entry(id).maker);
  }

  /**
   * The block leaves memory: at once if it has its file (null), otherwise after the returned order to write it is
   * carried out.
   */
  evict(id: BlockId): SpillOrder | null {
    const entry = this.#entry(id);
    const order = this.#residency.evict(entry);
    this.#watch?.moved(id, entry.state);
    return order;
  }

  /** The write has ended. A block that was pinned meanwhile stays in memory and has its file. */
  written(id: BlockId, place: SpillPlace): void {
    const entry = this.#entry(id);
    this.#residency.written(entry, place);
    if (entry.state === "resident") this.#watch?.kept(id);
    else this.#watch?.moved(id, entry.state);
    this.#freeUnheld(entry);
  }

  notWritten(id: BlockId): void {
    const entry = this.#entry(id);
    this.#residency.notWritten(entry);
    this.#watch?.moved(id, entry.state);
    this.#freeUnheld(entry);
  }

  /** Brings the block back: the range it goes to, and the ranges to punch before. Null: there is no room now. */
  restore(id: BlockId): { readonly order: RestoreOrder; readonly punch: readonly ArenaRange[] } | null {
    const order = this.#residency.restore(this.#entry(id));
    if (order !== null) this.#watch?.moved(id, "restoring");
    return order;
  }

  restored(id: BlockId): void {
    const entry = this.#entry(id);
    this.#residency.restored(entry);
    this.#watch?.moved(id, entry.state);
    this.#freeUnheld(entry);
  }

  /** The block could not be brought back now. It is still on disk. */
  notRestored(id: BlockId): void {
    const entry = this.#entry(id);
    this.#residency.notRestored(entry);
    this.#watch?.moved(id, entry.state);
    this.#freeUnheld(entry);
  }

  /** The block's file is damaged: only making the block again can bring it back. */
  damaged(id: BlockId): void {
    const entry = this.#entry(id);
    this.#residency.damaged(entry);
    this.#watch?.moved(id, entry.state);
    this.#freeUnheld(entry);
  }

  /** A lost block was made again with the same content, in a range reserved for it. */
  repaired(id: BlockId, range: ArenaRange): void {
    const entry = this.#entry(id);
    if (entry.state !== "lost") throw new StoreError(`Block ${id} is ${entry.state}, not lost.`);
    this.#unreserve(range);
    this.#residency.repaired(entry, range.offset);
    this.#watch?.moved(id, entry.state);
  }

  /**
   * Called when the disks are full: gives up the files of blocks that are being read, which need none meanwhile. True
   * if there was one.
   */
  dropFilesOfPinned(): boolean {
    let any = false;
    for (const entry of this.#blocks.values()) any = this.#residency.dropFileOfPinned(entry) || any;
    return any;
  }

  /** Places on disk that are no longer needed. Each is returned once. */
  takeOrphans(): readonly SpillPlace[] {
    return this.#residency.takeOrphans();
  }

  /** Makes another worker answerable for the block. The block must not be in use at this moment. */
  entrust(id: BlockId, worker: WorkerId): void {
    this.#residency.entrust(this.#entry(id), worker);
  }

  /** The block's maker has ended, and no other worker has taken the block over. */
  isOrphaned(id: BlockId): boolean {
    const { maker } = this.#entry(id);
    return maker !== null && this.#residency.makers.answerable(maker) === null;
  }

  /** From now on no living worker is answerable for the blocks of this worker. */
  forgetMaker(worker: WorkerId): void {
    this.#residency.makers.forget(worker);
  }

  /** Throws if the sums differ from the live blocks. Looks at every block: for tests and the end of a job. */
  assertConsistent(): void {
    this.#ranges.assertConsistent();
    let references = 0;
    for (const entry of this.#blocks.values()) {
      const isMoving = entry.state === "spilling" || entry.state === "restoring";
      if (entry.holder === null && !isMoving) {
        throw new StoreError(`Block ${entry.id} is ${entry.state} and held by nobody.`);
      }
      references += referencesTo(entry);
    }
    this.#holdings.assertSum(references);
    let bytes = this.#residency.assertConsistent(this.#blocks.values());
    for (const length of this.#reserved.values()) bytes += length;
    if (bytes !== this.live) throw new StoreError(`The ledger holds ${bytes} bytes, ${this.live} are live.`);
  }

  #retain(entry: Entry, holder: Holder): void {
    this.#holdings.count(holder, 1, hold(entry, holder) ? pagesOf(entry) : 0);
    if (isFlowing(holder)) entry.flowing += 1;
  }

  #freeUnheld(entry: Entry): void {
    if (entry.holder !== null) return;
    this.#residency.drop(entry);
    this.#blocks.delete(entry.id);
    this.#watch?.freed(entry.id);
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
