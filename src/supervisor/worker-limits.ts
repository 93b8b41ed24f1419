/** The memory limit of each worker, and how much it may allocate. */
import type { Bytes, WorkerId } from "../protocol/index.ts";
import type { WorkerPool } from "./worker-pool.ts";

type Limited = Pick<WorkerPool, "workers" | "kindOf" | "memoryOf" | "send">;

export class WorkerLimits {
  readonly #pool: Limited;
  /** Limit of workers without a limit of their own. */
  #ordinary: Bytes | null;

  constructor(pool: Limited, ordinary: Bytes | null) {
    this.#pool = pool;
    this.#ordinary = ordinary;
  }

  /** Null: no limit. A raised worker keeps its own limit as long as that is the larger one. */
  of(worker: WorkerId): Bytes | null {
    return this.#ordinary === null ? null : Math.max(this.#ordinary, this.#pool.memoryOf(worker) ?? 0);
  }

  /** Null for the wide kernel: it runs no functions, has its own limit, and keeps unused memory mapped. */
  allowanceOf(worker: WorkerId): Bytes | null {
    return this.#pool.kindOf(worker) === "wide" ? null : this.of(worker);
  }

  /** Applies from now on. The heap limit of a running worker stays. */
  set(ordinary: Bytes | null): void {
    this.#ordinary = ordinary;
    for (const { worker } of this.#pool.workers) {
      this.#pool.send(worker, { type: "allowance", bytes: this.allowanceOf(worker) });
    }
  }
}
