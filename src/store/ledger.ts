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
 * In three layers: `room.ts` gives out ranges, `held-blocks.ts` knows which blocks there are and who holds them, and
 * this file has them moved between memory and disk (`residency.ts`).
 */

import { StoreError } from "../errors/index.ts";
import type { ArenaRange, BlockId, Bytes, WorkerId } from "../protocol/index.ts";
import type { Entry } from "./entry.ts";
import { HeldBlocks } from "./held-blocks.ts";
import type { RestoreOrder, SpillOrder, SpillPlace } from "./place.ts";
import type { SpillTotals } from "./residency.ts";

export class Ledger extends HeldBlocks {
  /**
   * Free room, and the room of blocks that can leave memory without delaying a task: those that do not flow, and those
   * already being written to disk.
   */
  get available(): Bytes {
    return this.room + this.residency.leavers.coldBytes + this.residency.leaving;
  }

  /** The bytes of all blocks that could leave memory: those that are not being read. */
  get evictable(): Bytes {
    const { coldBytes, warmBytes } = this.residency.leavers;
    return coldBytes + warmBytes;
  }

  /** Bytes being written to disk, which soon become room. */
  get leaving(): Bytes {
    return this.residency.leaving;
  }

  /** Bytes of blocks that are only on disk. */
  get onDisk(): Bytes {
    return this.residency.onDisk;
  }

  /** Every block is in memory: none is on disk alone or being read back. */
  get isAllInMemory(): boolean {
    return this.residency.isAllInMemory;
  }

  /** Workers that are answerable for more than the target. */
  get overTarget(): ReadonlySet<WorkerId> {
    return this.residency.makers.over;
  }

  get totals(): Readonly<SpillTotals> {
    return this.residency.totals;
  }

  /**
   * Resident bytes of the blocks that a worker is answerable for; null: of the blocks that no living worker is
   * answerable for.
   */
  managed(worker: WorkerId | null): Bytes {
    return this.residency.makers.managed(worker);
  }

  /**
   * Bytes on disk, after compression, of the blocks that a worker is answerable for. A restored block keeps its file
   * and still counts.
   */
  spilled(worker: WorkerId | null): Bytes {
    return this.residency.makers.spilled(worker);
  }

  /** The same for all blocks. */
  get spilledBytes(): Bytes {
    return this.residency.makers.allSpilled;
  }

  /** How many bytes a worker may be answerable for; null: no limit. */
  set target(target: Bytes | null) {
    this.residency.makers.target = target;
  }

  /** Advances the clock of use: a later use counts as more recent. */
  tick(): void {
    this.residency.tick();
  }

  /** How much pinning the block would take from `available`. */
  costOfPin(id: BlockId): Bytes {
    return this.residency.costOfPin(this.entry(id));
  }

  /**
   * Where the block lies. It stays there until it has been unpinned as often as pinned. Only a block in memory can be
   * pinned.
   */
  pin(id: BlockId): ArenaRange {
    return this.residency.pin(this.entry(id));
  }

  unpin(id: BlockId): void {
    this.residency.unpin(this.entry(id));
  }

  /** Blocks that do not flow, in the order in which they should leave memory; lazy. */
  cold(): IterableIterator<BlockId> {
    return this.residency.leavers.cold();
  }

  /** Blocks that flow, in the same way. */
  warm(): IterableIterator<BlockId> {
    return this.residency.leavers.warm();
  }

  makerOf(id: BlockId): WorkerId | null {
    return this.residency.makers.answerable(this.entry(id).maker);
  }

  /**
   * The block leaves memory: at once if it has its file (null), otherwise after the returned order to write it is
   * carried out.
   */
  evict(id: BlockId): SpillOrder | null {
    const entry = this.entry(id);
    const order = this.residency.evict(entry);
    this.watch?.moved(id, entry.state);
    return order;
  }

  /** The write has ended. A block that was pinned meanwhile stays in memory and has its file. */
  written(id: BlockId, place: SpillPlace): void {
    const entry = this.entry(id);
    this.residency.written(entry, place);
    if (entry.state === "resident") this.watch?.kept(id);
    else this.watch?.moved(id, entry.state);
    this.freeUnheld(entry);
  }

  notWritten(id: BlockId): void {
    const entry = this.entry(id);
    this.residency.notWritten(entry);
    this.#hasMoved(entry);
  }

  /** Brings the block back: the range it goes to, and the ranges to punch before. Null: there is no room now. */
  restore(id: BlockId): { readonly order: RestoreOrder; readonly punch: readonly ArenaRange[] } | null {
    const order = this.residency.restore(this.entry(id));
    if (order !== null) this.watch?.moved(id, "restoring");
    return order;
  }

  restored(id: BlockId): void {
    const entry = this.entry(id);
    this.residency.restored(entry);
    this.#hasMoved(entry);
  }

  /** The block could not be brought back now. It is still on disk. */
  notRestored(id: BlockId): void {
    const entry = this.entry(id);
    this.residency.notRestored(entry);
    this.#hasMoved(entry);
  }

  /** The block's file is damaged: only making the block again can bring it back. */
  damaged(id: BlockId): void {
    const entry = this.entry(id);
    this.residency.damaged(entry);
    this.#hasMoved(entry);
  }

  /** A lost block was made again with the same content, in a range reserved for it. */
  repaired(id: BlockId, range: ArenaRange): void {
    const entry = this.entry(id);
    if (entry.state !== "lost") throw new StoreError(`Block ${id} is ${entry.state}, not lost.`);
    this.unreserve(range);
    this.residency.repaired(entry, range.offset);
    this.watch?.moved(id, entry.state);
  }

  /**
   * Called when the disks are full: gives up the files of blocks that are being read, which need none meanwhile. True
   * if there was one.
   */
  dropFilesOfPinned(): boolean {
    let any = false;
    for (const entry of this.entries()) any = this.residency.dropFileOfPinned(entry) || any;
    return any;
  }

  /** Places on disk that are no longer needed. Each is returned once. */
  takeOrphans(): readonly SpillPlace[] {
    return this.residency.takeOrphans();
  }

  /** Makes another worker answerable for the block. The block must not be in use at this moment. */
  entrust(id: BlockId, worker: WorkerId): void {
    this.residency.entrust(this.entry(id), worker);
  }

  /** The block's maker has ended, and no other worker has taken the block over. */
  isOrphaned(id: BlockId): boolean {
    const { maker } = this.entry(id);
    return maker !== null && this.residency.makers.answerable(maker) === null;
  }

  /** From now on no living worker is answerable for the blocks of this worker. */
  forgetMaker(worker: WorkerId): void {
    this.residency.makers.forget(worker);
  }

  /** Throws if the sums differ from the live blocks. Looks at every block: for tests and the end of a job. */
  assertConsistent(): void {
    this.ranges.assertConsistent();
    this.assertHeld();
    const bytes = this.residency.assertConsistent(this.entries()) + this.reserved;
    if (bytes !== this.live) throw new StoreError(`The ledger holds ${bytes} bytes, ${this.live} are live.`);
  }

  /** Its last holder may have gone meanwhile. */
  #hasMoved(entry: Entry): void {
    this.watch?.moved(entry.id, entry.state);
    this.freeUnheld(entry);
  }
}
