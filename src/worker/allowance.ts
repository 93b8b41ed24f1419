/**
 * What this process may allocate beside what it has at its start. Looking at memory every 200 ms cannot catch who takes
 * two gigabytes at once; with an allowance that is an error of whoever asks for them (in JavaScript a `RangeError`:
 * "Array buffer allocation failed"), and not the end of the machine. It is for the user's functions. The kernel by
 * itself is bounded by its lease, and maps much that it never touches (32 MiB for each JSON file it looks at): where no
 * function runs, nothing is refused.
 */

import { nodeMemory, systemFiles } from "../memory/index.ts";
import { limitData } from "../native/index.ts";
import type { Bytes } from "../protocol/index.ts";

/**
 * What counts and is not used: stacks of threads and of calls into C that come later (8 MiB each, of which a few KiB
 * are touched), and what allocators keep for the next time. A job of 2 GB that wrote Parquet had 150 MiB of it beyond
 * what it began with.
 */
const UNTOUCHED: Bytes = 192 * 2 ** 20;

export class Allowance {
  #usedAtStart: Bytes | null = null;
  #bytes: Bytes | null = null;
  /** What was mapped and is not in use, when the limit was set: that counts for the system, and not here. */
  #unused: Bytes = 0;
  #state: "none" | "in force" | "lifted" = "none";

  /** Null: no bound. */
  set(bytes: Bytes | null): void {
    this.#bytes = bytes;
    if (this.#state !== "lifted") this.impose();
  }

  /** Only the kernel works from now on. */
  lift(): void {
    if (this.#state === "in force") limitData(null);
    this.#state = "lifted";
  }

  /** Functions may run from now on: what they may have counts from what is in use now. */
  impose(): void {
    if (this.#bytes === null) {
      // Where there never was a bound there is none to lift.
      if (this.#state === "in force") limitData(null);
      this.#state = "none";
      return;
    }
    const { mapped, used } = ownUse();
    this.#usedAtStart ??= used;
    this.#unused = mapped - Math.max(0, used - this.#usedAtStart);
    // Where it has more than a new limit allows, the ladder sees to that: here its next small request would end the
    // process.
    limitData(UNTOUCHED + Math.max(this.#unused + this.#bytes, mapped));
    this.#state = "in force";
  }

  /** Who is refused memory now has asked for more than half of what this process may have, and at once. */
  isMostlyFree(): boolean {
    const most = this.#bytes ?? nodeMemory();
    return ownUse().mapped - this.#unused - UNTOUCHED < most / 2;
  }
}

/** What the system counts for the limit, and what of it was touched; 0 where there is no /proc, and no limit either. */
function ownUse(): { readonly mapped: Bytes; readonly used: Bytes } {
  const status = systemFiles.read("/proc/self/status") ?? "";
  const bytes = (field: RegExp) => Number(field.exec(status)?.[1] ?? 0) * 1024;
  return { mapped: bytes(/^VmData:\s+(\d+) kB$/m), used: bytes(/^RssAnon:\s+(\d+) kB$/m) };
}
