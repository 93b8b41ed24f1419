/**
 * What this process may allocate beside what it has at its start. Looking at memory every 200 ms cannot catch who takes two
 * gigabytes at once; with an allowance that is an error of whoever asks for them (in JavaScript a `RangeError`: "Array buffer
 * allocation failed"), and not the end of the machine.
 */

import { nodeMemory, systemFiles } from "../memory/index.ts";
import { limitData } from "../native/index.ts";
import type { Bytes } from "../protocol/index.ts";

/**
 * What counts and is not used: stacks of threads and of calls into C that come later (8 MiB each, of which a few KiB are touched),
 * and what allocators keep for the next time. A job of 2 GB that wrote Parquet had 150 MiB of it beyond what it began with.
 */
const UNTOUCHED: Bytes = 192 * 2 ** 20;

export class Allowance {
  #atStart: Bytes | null = null;
  #bytes: Bytes | null = null;

  /** Null: no bound. */
  set(bytes: Bytes | null): void {
    this.#bytes = bytes;
    if (bytes === null) {
      // Where there never was a bound there is none to lift.
      if (this.#atStart !== null) limitData(null);
      return;
    }
    const now = mapped();
    this.#atStart ??= now;
    // Where it has more than a new limit allows, the ladder sees to that: here its next small request would end the process.
    limitData(UNTOUCHED + Math.max(this.#atStart + bytes, now));
  }

  /** Who is refused memory now has asked for more than half of what this process may have, and at once. */
  isMostlyFree(): boolean {
    const most = this.#bytes ?? nodeMemory();
    return mapped() - (this.#atStart ?? 0) - UNTOUCHED < most / 2;
  }
}

/** What the system counts; 0 where there is no /proc, and no limit either. */
function mapped(): Bytes {
  const found = /^VmData:\s+(\d+) kB$/m.exec(systemFiles.read("/proc/self/status") ?? "");
  return Number(found?.[1] ?? 0) * 1024;
}
