/**
 * Which blocks leave memory, and when. Blocks leave only because a task needs the room, or because a worker's own
 * blocks pass its target. A pipeline that can be held back is held back (room.ts) and spills nothing. Kinds of blocks:
 *   cold    blocks that do not flow (materialised, items, inputs of jobs): for any task that needs room;
 *   paused  blocks in jobs that the program has stopped reading: for a job that stands still without their room;
 *   any     blocks that nobody reads at this moment: when no worker can go on otherwise (stall.ts).
 * The number of writes at a time is bounded: blocks are chosen when their write begins.
 */

import type { WireError } from "../../errors/index.ts";
import { spillsUntil } from "../../memory/index.ts";
import type { BlockId, Bytes, Milliseconds, WorkerId } from "../../protocol/index.ts";
import { type SpillOrder, type SpillPlace, wholePages } from "../../store/index.ts";
import { DISK_GRACE, DISK_RETRY, isPaused, type State, send, tellNotice, type WorkerState } from "../state/index.ts";
import { askToCollect, mayCollectSince } from "./collect.ts";
import { pressingBytes, thresholdsOf } from "./pressure.ts";

export type Leaving = "cold" | "paused" | "any";

/** Two keep a disk busy: one is written while the next is chosen. */
const MAX_WRITES = 2;
/** Small blocks share a file up to this size; a larger block has its own. */
const FILE_BYTES: Bytes = 32 * 2 ** 20;
/** How long a job may take to use up blocks that are above the capacity in force. */
const BEYOND_GRACE: Milliseconds = 1_000;
/** Disks that are nearly full refuse again and again for a moment. */
const DISK_TOLD_AGAIN: Milliseconds = 30_000;

/** Free room, and room that cold blocks would leave; only free room while the disks refuse. */
export function availableRoom(state: State): Bytes {
  const { ledger } = state;
  return isRefusing(state) ? ledger.room + ledger.leaving : ledger.available;
}

/** The disks have refused, and it is too early to try again. */
function isRefusing({ store: disk, now }: State): boolean {
  return disk.refusal !== null && now < disk.refusal.retryAt;
}

/** Makes this much room; false, and no block leaves, if that would not be enough. */
export function makeRoom(state: State, bytes: Bytes, leaving: Leaving): boolean {
  const { ledger } = state;
  let missing = bytes - ledger.room - ledger.leaving;
  if (missing <= 0) return true;
  askToCollect(state);
  if (missing > bytesThatMayLeave(state, leaving)) return false;
  const writer = new Writer(state);
  for (const id of candidates(state, leaving)) {
    missing -= writer.evict(id);
    if (missing <= 0 || writer.isFull) break;
  }
  writer.flush();
  return missing <= 0 || writer.isFull;
}

function bytesThatMayLeave(state: State, leaving: Leaving): Bytes {
  const { ledger } = state;
  if (leaving === "cold") return ledger.available - ledger.room - ledger.leaving;
  if (leaving === "any") return ledger.evictable;
  let bytes = ledger.available - ledger.room - ledger.leaving;
  for (const id of ledger.warm()) if (isOfPausedJobs(state, id)) bytes += wholePages(ledger.lengthOf(id));
  return bytes;
}

function* candidates(state: State, leaving: Leaving): IterableIterator<BlockId> {
  const { ledger } = state;
  yield* ledger.cold();
  if (leaving === "cold") return;
  for (const id of ledger.warm()) if (leaving === "any" || isOfPausedJobs(state, id)) yield id;
}

function isOfPausedJobs(state: State, id: BlockId): boolean {
  const holders = state.ledger.heldBy(id);
  if (holders.some((holder) => holder.startsWith("task:"))) return false;
  for (const job of state.jobs.values()) if (holders.includes(job.holders.queues) && !isPaused(job)) return false;
  return true;
}

/** Sends this many bytes of cold blocks to disk, as far as the disks take them now: no task waits for the room. */
export function spillCold(state: State, bytes: Bytes): void {
  if (isRefusing(state)) return;
  const writer = new Writer(state);
  let missing = bytes - state.ledger.leaving;
  for (const id of state.ledger.cold()) {
    if (missing <= 0 || writer.isFull) break;
    missing -= writer.evict(id);
  }
  writer.flush();
}

/**
 * Blocks above the capacity in force leave: those that do not flow at once, the others only if they are still too many
 * after a while, because a job that goes on uses them up, and makes no more meanwhile.
 */
export function spillBeyond(state: State): void {
  const { ledger, store } = state;
  const missing = -ledger.room - ledger.leaving;
  if (missing <= 0) {
    if (ledger.room >= 0) store.beyondSince = null;
    return;
  }
  store.beyondSince ??= state.now;
  spillCold(state, -ledger.room);
  if (state.now - store.beyondSince >= BEYOND_GRACE) spillAny(state, -ledger.room - ledger.leaving);
}

/** This many bytes of blocks that nobody reads go to disk. True: some are on their way. */
export function spillAny(state: State, bytes: Bytes): boolean {
  if (isRefusing(state)) return false;
  const writer = new Writer(state);
  let missing = bytes;
  let any = false;
  for (const id of candidates(state, "any")) {
    if (missing <= 0 || writer.isFull) break;
    const left = writer.evict(id);
    any = any || left > 0;
    missing -= left;
  }
  writer.flush();
  return any;
}

/**
 * A worker's own blocks above the target leave, the least recently used first (K3). Worker data frees memory itself
 * (K14).
 */
export function spillOverTarget(state: State): void {
  const { ledger, store: disk } = state;
  const { managedTarget } = state.memory;
  if (managedTarget === null || disk.writing > 0) return;
  for (const worker of ledger.overTarget) {
    if (state.workers.get(worker)?.memory.workerData !== null) continue;
    spillOf(state, worker, ledger.managed(worker) - managedTarget);
  }
}

/** The blocks of workers whose memory is above `spill` leave, until it is below `target` (K5). */
export function spillUnderPressure(state: State): void {
  for (const worker of state.memory.heavy) {
    if (state.store.writing >= MAX_WRITES) return;
    if (!worker.memory.standing.spills) continue;
    // Spilling ends below the target, not at it.
    const until = Math.ceil(spillsUntil(worker.memory.limit, thresholdsOf(state, worker))) - 1;
    const missing = pressingBytes(state, worker) - until - state.ledger.leaving;
    worker.store.foundNothingToSpill = false;
    if (missing <= 0) continue;
    const left = state.ledger.managed(worker.id) === 0 ? 0 : spillOf(state, worker.id, missing);
    worker.store.foundNothingToSpill = left === 0 && !canEvict(worker);
    if (left < missing) askToEvict(state, worker, missing - left);
  }
}

function canEvict({ memory: { workerData } }: WorkerState): boolean {
  return workerData?.evicts === true && workerData.bytes > 0 && !workerData.hasNothingToEvict;
}

/** Asked once until more is known: its next report, or the next reading, shows what the worker data has freed (K14). */
function askToEvict(state: State, worker: WorkerState, bytes: Bytes): void {
  if (!canEvict(worker) || worker.store.isAskedToEvict) return;
  worker.store.isAskedToEvict = true;
  send(state, worker, { type: "evict", bytes });
}

/** Returns the bytes that leave. */
function spillOf(state: State, worker: WorkerId, bytes: Bytes): Bytes {
  const writer = new Writer(state);
  let missing = bytes;
  for (const id of candidates(state, "any")) {
    if (missing <= 0 || writer.isFull) break;
    if (state.ledger.makerOf(id) === worker) missing -= writer.evict(id);
  }
  writer.flush();
  return bytes - missing;
}

/** Groups blocks into writes. */
class Writer {
  #batch: SpillOrder[] = [];
  #bytes: Bytes = 0;

  constructor(private readonly state: State) {}

  get isFull(): boolean {
    return this.state.store.writing >= MAX_WRITES;
  }

  /** Returns the bytes that become free, now or when they are written. */
  evict(id: BlockId): Bytes {
    const { ledger } = this.state;
    const before = ledger.room + ledger.leaving;
    if (!ledger.hasFile(id) && (this.isFull || isRefusing(this.state))) return 0;
    const order = ledger.evict(id);
    if (order !== null) this.#add(order);
    return ledger.room + ledger.leaving - before;
  }

  flush(): void {
    if (this.#batch.length === 0) return;
    this.state.commands.push({ type: "spill", blocks: this.#batch });
    this.state.store.writing += 1;
    this.#batch = [];
    this.#bytes = 0;
  }

  #add(order: SpillOrder): void {
    this.#batch.push(order);
    this.#bytes += order.range.length;
    if (this.#bytes >= FILE_BYTES) this.flush();
  }
}

export function blocksSpilled(
  state: State,
  blocks: readonly { readonly id: BlockId; readonly place: SpillPlace }[],
): void {
  for (const { id, place } of blocks) state.ledger.written(id, place);
  state.store.writing -= 1;
  state.store.refusal = null;
}

/**
 * Nothing is lost: the blocks stay where they are. The disks are tried again at once if pinned blocks had files that
 * could be removed, and otherwise after a while.
 */
export function blocksNotSpilled(state: State, blocks: readonly BlockId[], error: WireError): void {
  for (const id of blocks) state.ledger.notWritten(id);
  state.store.writing -= 1;
  if (!state.ledger.dropFilesOfPinned()) diskRefused(state, error);
}

export function diskRefused(state: State, error: WireError, isReading = false): void {
  const { store: disk, now } = state;
  const { refusal } = disk;
  // Without a retry for a while, this counts as a new refusal.
  const isSame = refusal !== null && now - refusal.retryAt < DISK_GRACE;
  if (!isSame) {
    mayCollectSince(state, now);
    if (now >= disk.toldAt + DISK_TOLD_AGAIN) {
      disk.toldAt = now;
      tellNotice(state, { kind: "waitsForDisk", error: error.message });
    }
  }
  disk.refusal = { error, since: isSame ? refusal.since : now, retryAt: now + DISK_RETRY, isReading };
}

/** Treats the disks as working until they refuse again. */
export function forgetRefusal({ store }: State): void {
  store.refusal = null;
}

/** The size of the worker data was reported anew, so it may be asked again to free memory. */
export function mayAskToEvict({ store }: WorkerState): void {
  store.isAskedToEvict = false;
}

/** When to try the disks again, if somebody waits for them. */
export function diskDeadline({
  store: disk,
  now,
  phases: { askingTasks, fetching },
  placement: { programAsks },
  jobs,
}: State): Milliseconds {
  const waits = askingTasks > 0 || fetching.size > 0 || programAsks.length > 0 || jobs.size > 0;
  const retryAt = disk.refusal?.retryAt ?? 0;
  return waits && retryAt > now ? retryAt : Number.POSITIVE_INFINITY;
}
