/**
 * How much this process may allocate in addition to what it has at its start. Measuring memory every 200 ms cannot
 * catch a function that takes two gigabytes at once. With an allowance such a request fails (in JavaScript a
 * `RangeError`: "Array buffer allocation failed") instead of exhausting the machine. It applies to the user's
 * functions. The kernel is limited by its lease, and maps much memory that it never touches (32 MiB for each JSON file
 * it looks at): while no function runs, nothing is refused.
 */

import { nodeMemory, ownMemory } from "../memory/index.ts";
import { limitData } from "../native/index.ts";
import type { Bytes } from "../protocol/index.ts";

/**
 * Memory that the system counts although it is unused: stacks of later threads and calls into C (8 MiB each, of which a
 * few KiB are touched), and what allocators keep for reuse. A job of 2 GB that wrote Parquet had 150 MiB of it more
 * than at its start.
 */
const UNTOUCHED: Bytes = 192 * 2 ** 20;

export class Allowance {
  #usedAtStart: Bytes | null = null;
  #bytes: Bytes | null = null;
  /** The part of it that is in force: less, if the node has less left. */
  #inForce: Bytes | null = null;
  /** Mapped but unused memory at the time the limit was set: the system counts it, the allowance does not. */
  #unused: Bytes = 0;
  #state: "none" | "in force" | "lifted" = "none";

  /** Null: no limit. */
  set(bytes: Bytes | null): void {
    this.#bytes = bytes;
    if (this.#state !== "lifted") this.impose();
  }

  /** From now on only the kernel works. */
  lift(): void {
    if (this.#state === "in force") limitData(null);
    this.#state = "lifted";
  }

  /** A task has ended. The next one with functions begins with an allowance of its own. */
  restore(): void {
    if (this.#state === "lifted") this.impose();
  }

  /**
   * From now on functions may run: their allowance starts from what is in use now. `most`: what this process may have
   * in all for the next task, if that is less.
   */
  impose(most: Bytes = Number.POSITIVE_INFINITY): void {
    this.#inForce = this.#bytes;
    if (this.#bytes === null) {
      // If there was no limit, there is none to lift.
      if (this.#state === "in force") limitData(null);
      this.#state = "none";
      return;
    }
    const { data: mapped, private: used } = ownMemory();
    this.#usedAtStart ??= used;
    this.#unused = mapped - Math.max(0, used - this.#usedAtStart);
    this.#inForce = Math.min(this.#bytes, Math.max(0, most - this.#usedAtStart));
    // If the process already has more than a new limit allows, the limit is what it has, and the ladder takes care of
    // the rest. A lower limit would fail the next small request, which would end the process.
    limitData(UNTOUCHED + Math.max(this.#unused + this.#inForce, mapped));
    this.#state = "in force";
  }

  /** True if a request that is refused now must have asked for more than half of the allowance at once. */
  isMostlyFree(): boolean {
    const most = this.#inForce ?? nodeMemory();
    return ownMemory().data - this.#unused - UNTOUCHED < most / 2;
  }
}
