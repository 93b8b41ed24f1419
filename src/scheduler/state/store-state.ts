/**
 * What the room `store` keeps and alone writes: the disks at work, the room that is spoken for, the program's garbage
 * collections, and how far a worker's blocks can leave.
 */
import type { WireError } from "../../errors/index.ts";
import type { BlockId, Bytes, Milliseconds } from "../../protocol/index.ts";

interface Refusal {
  readonly error: WireError;
  readonly since: Milliseconds;
  readonly retryAt: Milliseconds;
  /** The refusal was of a read, not of a write. */
  readonly isReading: boolean;
}

/** The program's garbage collections (collect.ts). */
interface Collection {
  /** The program has been asked and has not answered. */
  isAsked: boolean;
  answeredAt: Milliseconds;
  /** How long the program is not asked again just to make room. */
  pause: Milliseconds;
  /** What it kept when it was asked. */
  keptBefore: Bytes;
}

/** Store state of the session. */
export interface StoreState {
  /** Batches being written. */
  writing: number;
  readonly restoring: Set<BlockId>;
  refusal: Refusal | null;
  /** When the user was last told that work waits for the disks. */
  toldAt: Milliseconds;
  /** Room that is reserved for a task while it is being made: less urgent tasks cannot have it. */
  spokenFor: Bytes;
  /** Since when blocks are above the capacity in force; null: they are not. */
  beyondSince: Milliseconds | null;
  readonly collection: Collection;
}

export function newStoreState(): StoreState {
  return {
    writing: 0,
    restoring: new Set(),
    refusal: null,
    toldAt: Number.NEGATIVE_INFINITY,
    spokenFor: 0,
    beyondSince: null,
    collection: { isAsked: false, answeredAt: Number.NEGATIVE_INFINITY, pause: 0, keptBefore: 0 },
  };
}

export interface WorkerStore {
  /** When blocks of it last had to leave memory, none could. */
  foundNothingToSpill: boolean;
  /** The worker data was asked to free memory, and neither its answer nor a reading has come since. */
  isAskedToEvict: boolean;
}

export function newWorkerStore(): WorkerStore {
  return { foundNothingToSpill: false, isAskedToEvict: false };
}
