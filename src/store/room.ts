/**
 * The room of the store: ranges that are reserved for blocks to be written, and what is lent out or given back to the
 * system. The caller that asks for room carries out the punches that come with it. Knows no blocks.
 */
import { StoreError } from "../errors/index.ts";
import type { ArenaRange, Bytes } from "../protocol/index.ts";
import { formatSize } from "../units/index.ts";
import { type Allocation, RangeAllocator, wholePages } from "./ranges.ts";

export class Room {
  readonly capacity: Bytes;
  protected readonly ranges: RangeAllocator;
  readonly #reserved = new Map<Bytes, Bytes>();

  constructor(size: Bytes, capacity: Bytes) {
    this.ranges = new RangeAllocator(size, capacity);
    this.capacity = this.ranges.capacity;
  }

  /** Reservations and blocks in memory, in whole pages. */
  get live(): Bytes {
    return this.ranges.live;
  }

  /** Freed, and not yet given back to the system. */
  get cached(): Bytes {
    return this.ranges.cached;
  }

  /** What may be reserved now; negative while blocks have to leave, because the capacity in force was lowered. */
  get room(): Bytes {
    return this.inForce - this.ranges.live - this.ranges.lent;
  }

  /** The capacity less what is withheld: blocks above it leave, and none are added. */
  get inForce(): Bytes {
    return this.capacity - this.ranges.withheld;
  }

  /** Withholds all of the capacity but this much. Returns the ranges to give back to the system for it. */
  limit(bytes: Bytes): readonly ArenaRange[] {
    return this.ranges.withhold(this.capacity - Math.min(this.capacity, bytes));
  }

  /** The part of the capacity that is lent out. */
  get lent(): Bytes {
    return this.ranges.lent;
  }

  /** Lends this many bytes, limited to the free room. Returns the ranges to give back to the system for it. */
  lend(bytes: Bytes): readonly ArenaRange[] {
    return this.ranges.lend(bytes);
  }

  /** Removes this many cached bytes. Returns the ranges to give back to the system. */
  giveBack(bytes: Bytes): readonly ArenaRange[] {
    return this.ranges.giveBack(bytes);
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
    const allocation = this.ranges.allocate(bytes);
    if (allocation !== null) this.#reserved.set(allocation.range.offset, allocation.range.length);
    return allocation;
  }

  abandon(range: ArenaRange): void {
    this.unreserve(range);
    this.ranges.free(range.offset);
  }

  /** Bytes of all reservations. */
  protected get reserved(): Bytes {
    let bytes = 0;
    for (const length of this.#reserved.values()) bytes += length;
    return bytes;
  }

  /** The range is no longer a reservation. */
  protected unreserve(range: ArenaRange): void {
    if (!this.#reserved.delete(range.offset)) {
      throw new StoreError(`The range at ${range.offset} is not reserved.`);
    }
  }
}
