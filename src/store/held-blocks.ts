/**
 * Which blocks there are, and who holds them: a block is made of a reservation, and freed with its last reference.
 * Where a block is, in memory or on disk, is told by the ledger.
 */
import { StoreError } from "../errors/index.ts";
import type { ArenaRange, BlockId, BlockRef, BlockState, Bytes, WorkerId } from "../protocol/index.ts";
import { type Entry, type Holder, hold, isFlowing, letGo, pagesOf, referencesTo } from "./entry.ts";
import { type Held, Holdings } from "./holdings.ts";
import { PAGE } from "./ranges.ts";
import { Residency } from "./residency.ts";
import { Room } from "./room.ts";

/** Is told of blocks that moved between memory and disk, and of freed blocks. */
export interface BlockWatch {
  moved(id: BlockId, to: BlockState): void;
  /** Its file was written, and it stays in memory, because it is being read. */
  kept(id: BlockId): void;
  freed(id: BlockId): void;
}

export class HeldBlocks extends Room {
  protected readonly residency: Residency;
  protected readonly watch: BlockWatch | null;
  readonly #blocks = new Map<BlockId, Entry>();
  readonly #holdings = new Holdings();
  #lastId = 0;

  /** `target`: how many bytes a worker may be answerable for; null: no limit. */
  constructor(size: Bytes, capacity: Bytes, target: Bytes | null = null, watch: BlockWatch | null = null) {
    super(size, capacity);
    this.watch = watch;
    this.residency = new Residency(this.ranges, target);
  }

  get blocks(): number {
    return this.#blocks.size;
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
    this.unreserve(range);
    this.ranges.shrink(range.offset, length);
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
      used: this.residency.now,
      order: null,
      older: null,
      younger: null,
    };
    this.#blocks.set(id, entry);
    this.#retain(entry, holder);
    this.residency.enter(entry);
    return { id, length, rows };
  }

  has(id: BlockId): boolean {
    return this.#blocks.has(id);
  }

  /** Every block with its state. */
  *states(): Iterable<readonly [BlockId, BlockState]> {
    for (const { id, state } of this.#blocks.values()) yield [id, state];
  }

  stateOf(id: BlockId): BlockState {
    return this.entry(id).state;
  }

  lengthOf(id: BlockId): Bytes {
    return this.entry(id).length;
  }

  isInMemory(id: BlockId): boolean {
    const { state } = this.entry(id);
    return state === "resident" || state === "spilling";
  }

  retain(id: BlockId, holder: Holder): void {
    const entry = this.entry(id);
    this.#retain(entry, holder);
    if (isFlowing(holder) && entry.flowing === 1) this.residency.leavers.settle(entry);
  }

  /** Frees the block with its last reference. */
  release(id: BlockId, holder: Holder): void {
    const entry = this.entry(id);
    const left = letGo(entry, holder);
    if (left === null) throw new StoreError(`Block ${id} is not held by ${holder}, which gave it back.`);
    this.#holdings.count(holder, -1, left === 0 ? pagesOf(entry) : 0);
    if (isFlowing(holder)) {
      entry.flowing -= 1;
      if (entry.flowing === 0) this.residency.leavers.settle(entry);
    }
    if (entry.state !== "spilling" && entry.state !== "restoring") this.freeUnheld(entry);
  }

  /** Hands one reference of `from` over to `to`. */
  pass(id: BlockId, from: Holder, to: Holder): void {
    // Most blocks have one reference: then its holder is replaced without making a table.
    const entry = this.entry(id);
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
    const { holder, others } = this.entry(id);
    if (holder === null) return [];
    return others === null ? [holder] : [holder, ...others.keys()];
  }

  hasFile(id: BlockId): boolean {
    return this.entry(id).place !== null;
  }

  protected entry(id: BlockId): Entry {
    const entry = this.#blocks.get(id);
    if (entry === undefined) throw new StoreError(`There is no block ${id}: it was freed, or never made.`);
    return entry;
  }

  protected entries(): Iterable<Entry> {
    return this.#blocks.values();
  }

  /** Throws if a block is held by nobody, or the sums of holders differ from those of blocks. */
  protected assertHeld(): void {
    let references = 0;
    for (const entry of this.#blocks.values()) {
      const isMoving = entry.state === "spilling" || entry.state === "restoring";
      if (entry.holder === null && !isMoving) {
        throw new StoreError(`Block ${entry.id} is ${entry.state} and held by nobody.`);
      }
      references += referencesTo(entry);
    }
    this.#holdings.assertSum(references);
  }

  #retain(entry: Entry, holder: Holder): void {
    this.#holdings.count(holder, 1, hold(entry, holder) ? pagesOf(entry) : 0);
    if (isFlowing(holder)) entry.flowing += 1;
  }

  protected freeUnheld(entry: Entry): void {
    if (entry.holder !== null) return;
    this.residency.drop(entry);
    this.#blocks.delete(entry.id);
    this.watch?.freed(entry.id);
  }
}
