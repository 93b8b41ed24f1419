/**
 * How many bytes each worker is answerable for, in memory (K2) and on disk (K9), and which workers are above the target
 * (K3).
 */
import type { Bytes, WorkerId } from "../protocol/index.ts";

export class Makers {
  /** Null: blocks that no living worker is answerable for. */
  readonly #managed = new Map<WorkerId | null, Bytes>();
  /** Bytes on disk, after compression. */
  readonly #spilled = new Map<WorkerId | null, Bytes>();
  #allSpilled: Bytes = 0;
  #target: Bytes | null;
  readonly #gone = new Set<WorkerId>();
  readonly #over = new Set<WorkerId>();

  /** The most bytes that a worker may be answerable for; null: no limit. */
  constructor(target: Bytes | null) {
    this.#target = target;
  }

  set target(target: Bytes | null) {
    this.#target = target;
    for (const worker of this.#managed.keys()) this.#compare(worker);
  }

  get over(): ReadonlySet<WorkerId> {
    return this.#over;
  }

  managed(worker: WorkerId | null): Bytes {
    return this.#managed.get(worker) ?? 0;
  }

  /** The worker that answers for the blocks of this maker: the maker itself as long as it lives, otherwise null. */
  answerable(maker: WorkerId | null): WorkerId | null {
    return maker === null || this.#gone.has(maker) ? null : maker;
  }

  add(maker: WorkerId | null, bytes: Bytes): void {
    const worker = this.answerable(maker);
    const managed = this.managed(worker) + bytes;
    this.#managed.set(worker, managed);
    this.#compare(worker);
  }

  /** Counts a block's new file; negative when the file is gone. */
  addSpilled(maker: WorkerId | null, bytes: Bytes): void {
    const worker = this.answerable(maker);
    this.#spilled.set(worker, this.spilled(worker) + bytes);
    this.#allSpilled += bytes;
  }

  spilled(worker: WorkerId | null): Bytes {
    return this.#spilled.get(worker) ?? 0;
  }

  get allSpilled(): Bytes {
    return this.#allSpilled;
  }

  forget(worker: WorkerId): void {
    const bytes = this.managed(worker);
    this.#managed.delete(worker);
    this.#over.delete(worker);
    this.#gone.add(worker);
    this.#managed.set(null, this.managed(null) + bytes);
    const spilled = this.spilled(worker);
    this.#spilled.delete(worker);
    this.#spilled.set(null, this.spilled(null) + spilled);
  }

  #compare(worker: WorkerId | null): void {
    if (worker === null) return;
    if (this.#target !== null && this.managed(worker) > this.#target) this.#over.add(worker);
    else this.#over.delete(worker);
  }
}
