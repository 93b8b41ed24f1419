/** Which worker is answerable for how many resident bytes (K2), and who is above the target (K3). */
import type { Bytes, WorkerId } from "../protocol/index.ts";

export class Makers {
  /** Null: what no living worker is answerable for. */
  readonly #managed = new Map<WorkerId | null, Bytes>();
  readonly #gone = new Set<WorkerId>();
  readonly #over = new Set<WorkerId>();

  /** The most that a worker may be answerable for; null: without end. */
  constructor(private readonly target: Bytes | null) {}

  get over(): ReadonlySet<WorkerId> {
    return this.#over;
  }

  managed(worker: WorkerId | null): Bytes {
    return this.#managed.get(worker) ?? 0;
  }

  /** Who stands for what this worker made: itself, as long as it lives. */
  answerable(maker: WorkerId | null): WorkerId | null {
    return maker === null || this.#gone.has(maker) ? null : maker;
  }

  add(maker: WorkerId | null, bytes: Bytes): void {
    const worker = this.answerable(maker);
    const managed = this.managed(worker) + bytes;
    this.#managed.set(worker, managed);
    if (worker === null || this.target === null) return;
    if (managed > this.target) this.#over.add(worker);
    else this.#over.delete(worker);
  }

  forget(worker: WorkerId): void {
    const bytes = this.managed(worker);
    this.#managed.delete(worker);
    this.#over.delete(worker);
    this.#gone.add(worker);
    this.#managed.set(null, this.managed(null) + bytes);
  }
}
