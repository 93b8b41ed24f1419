/**
 * The one account of what is in the store: reservations, blocks, and who holds a reference to each. Pure: it knows
 * neither the arena's file nor processes; whoever asks for room carries out the punches that come with it.
 *
 * A block's life:
 *
 *   reserve            seal                     last reference released
 *   ───────▶ reserved ──────▶ resident ────────────────────────────────▶ freed
 *               │                                                          ▲
 *               └──────────────── abandon (its writer died) ───────────────┘
 *
 * (spilling, spilled and restoring will lie between resident and freed: a state of the entry, not another ledger.)
 */

import { StoreError } from "../errors/index.ts";
import type { ArenaRange, BlockId, BlockRef, Bytes } from "../protocol/index.ts";
import { formatSize } from "../units/index.ts";
import { type Allocation, RangeAllocator, wholePages } from "./ranges.ts";

/** Who keeps a block alive. */
export type Holder = "program" | `job:${string}` | `task:${string}`;

interface Entry {
  readonly ref: BlockRef;
  readonly state: "resident";
  readonly holders: Map<Holder, number>;
}

interface Holdings {
  references: number;
  /** Each block counted once, in whole pages. */
  bytes: Bytes;
}

export class Ledger {
  readonly capacity: Bytes;
  readonly #ranges: RangeAllocator;
  readonly #blocks = new Map<BlockId, Entry>();
  readonly #reserved = new Map<Bytes, Bytes>();
  readonly #holdings = new Map<Holder, Holdings>();
  #lastId = 0;

  constructor(size: Bytes, capacity: Bytes) {
    this.#ranges = new RangeAllocator(size, capacity);
    this.capacity = this.#ranges.capacity;
  }

  /** Reservations and blocks, in whole pages. */
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

  get blocks(): number {
    return this.#blocks.size;
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
  seal(range: ArenaRange, length: Bytes, rows: number, holder: Holder): BlockRef {
    this.#unreserve(range);
    this.#ranges.shrink(range.offset, length);
    this.#lastId += 1;
    const ref: BlockRef = { id: this.#lastId as BlockId, range: { offset: range.offset, length }, rows };
    this.#blocks.set(ref.id, { ref, state: "resident", holders: new Map() });
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

  retain(id: BlockId, holder: Holder): void {
    const entry = this.#entry(id);
    const count = entry.holders.get(holder) ?? 0;
    entry.holders.set(holder, count + 1);
    const holdings = this.#holdings.get(holder) ?? { references: 0, bytes: 0 };
    holdings.references += 1;
    if (count === 0) holdings.bytes += wholePages(entry.ref.range.length);
    this.#holdings.set(holder, holdings);
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
      holdings.bytes -= wholePages(entry.ref.range.length);
    }
    if (holdings.references === 0) this.#holdings.delete(holder);
    if (entry.holders.size > 0) return;
    this.#blocks.delete(id);
    this.#ranges.free(entry.ref.range.offset);
  }

  /** One of the references of `from` is now one of `to`. */
  pass(id: BlockId, from: Holder, to: Holder): void {
    this.retain(id, to);
    this.release(id, from);
  }

  holds(holder: Holder): Readonly<Holdings> {
    return this.#holdings.get(holder) ?? { references: 0, bytes: 0 };
  }

  /** Throws where the sum is not the live blocks. Looks at everything: for tests and the end of a job. */
  assertConsistent(): void {
    this.#ranges.assertConsistent();
    let bytes = 0;
    let references = 0;
    for (const { ref, holders } of this.#blocks.values()) {
      if (holders.size === 0) throw new StoreError(`Block ${ref.id} is resident and held by nobody.`);
      bytes += wholePages(ref.range.length);
      for (const count of holders.values()) references += count;
    }
    for (const length of this.#reserved.values()) bytes += length;
    if (bytes !== this.live) throw new StoreError(`The ledger holds ${bytes} bytes, ${this.live} are live.`);
    for (const holdings of this.#holdings.values()) references -= holdings.references;
    if (references !== 0) throw new StoreError(`Blocks and holders differ by ${references} references.`);
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
