/** How much memory each worker may have, and what it is therefore allowed to allocate. */
import type { Bytes, WorkerId } from "../protocol/index.ts";
import type { WorkerPool } from "./worker-pool.ts";

type Limited = Pick<WorkerPool, "workers" | "kindOf" | "memoryOf" | "send">;

export class WorkerLimits {
  readonly #pool: Limited;
  /** Of workers that have none of their own. */
  #ordinary: Bytes | null;

  constructor(pool: Limited, ordinary: Bytes | null) {
    this.#pool = pool;
    this.#ordinary = ordinary;
  }

  /** Null: none. One that was raised keeps its own for as long as that is the larger one. */
  of(worker: WorkerId): Bytes | null {
    return this.#ordinary === null ? null : Math.max(this.#ordinary, this.#pool.memoryOf(worker) ?? 0);
  }

  /** The wide kernel runs no functions and has its own limit; and it keeps mapped what it does not use. */
  allowanceOf(worker: WorkerId): Bytes | null {
    return this.#pool.kindOf(worker) === "wide" ? null : this.of(worker);
  }

  /** From now on. The heap of a running worker stays as it is. */
  set(ordinary: Bytes | null): void {
    this.#ordinary = ordinary;
    for (const { worker } of this.#pool.workers) {
      this.#pool.send(worker, { type: "allowance", bytes: this.allowanceOf(worker) });
    }
  }
}
