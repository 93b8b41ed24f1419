/**
 * The rows of the task stream. A worker's lane is its slot; a replacement worker takes the first free slot. So there
 * are as many rows as workers at a time, not as many as workers ever started.
 */
import type { WorkerId } from "../protocol/index.ts";

type LaneKind = "worker" | "wide" | "disk" | "program";

export interface Lane {
  readonly id: number;
  readonly name: string;
  readonly kind: LaneKind;
  /** The worker in this lane now. */
  worker: WorkerId | null;
  /** How many workers were in this lane before. */
  before: number;
}

export class Lanes {
  readonly all: Lane[] = [];
  readonly #byWorker = new Map<WorkerId, Lane>();

  take(worker: WorkerId, kind: "worker" | "wide"): Lane {
    const free = this.all.find((lane) => lane.kind === kind && lane.worker === null);
    const lane = free ?? this.#add(kind);
    lane.worker = worker;
    this.#byWorker.set(worker, lane);
    return lane;
  }

  leave(worker: WorkerId): void {
    const lane = this.#byWorker.get(worker);
    this.#byWorker.delete(worker);
    if (lane?.worker !== worker) return;
    lane.worker = null;
    lane.before += 1;
  }

  of(worker: WorkerId): Lane | undefined {
    return this.#byWorker.get(worker);
  }

  /** The only lane of the disk, or of the program. */
  single(kind: "disk" | "program"): Lane {
    return this.all.find((lane) => lane.kind === kind) ?? this.#add(kind);
  }

  #add(kind: LaneKind): Lane {
    const number = this.all.filter((lane) => lane.kind === kind).length + 1;
    const name = NAMES[kind](number);
    const lane: Lane = { id: this.all.length, name, kind, worker: null, before: 0 };
    this.all.push(lane);
    return lane;
  }
}

const NAMES: Readonly<Record<LaneKind, (number: number) => string>> = {
  worker: (number) => `slot ${number}`,
  wide: (number) => (number === 1 ? "wide kernel" : `wide kernel ${number}`),
  disk: () => "disk",
  program: () => "program",
};
