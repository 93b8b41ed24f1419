/**
 * What this process may allocate beside what it has at its start. Looking at memory every 200 ms cannot catch who takes two
 * gigabytes at once; with an allowance that is an error of whoever asks for them (in JavaScript a `RangeError`: "Array buffer
 * allocation failed"), and not the end of the machine.
 */

import { systemFiles } from "../memory/index.ts";
import { limitData } from "../native/index.ts";
import type { Bytes } from "../protocol/index.ts";

/**
 * What counts and is not used: stacks of threads and of calls into C that come later (8 MiB each, of which a few KiB are touched),
 * and what allocators keep for the next time. A job of 2 GB that wrote Parquet had 150 MiB of it beyond what it began with.
 */
const UNTOUCHED: Bytes = 192 * 2 ** 20;

export class Allowance {
  #atStart: Bytes | null = null;

  /** Null: no bound. */
  set(bytes: Bytes | null): void {
    if (bytes === null) {
      // Where there never was a bound there is none to lift.
      if (this.#atStart !== null) limitData(null);
      return;
    }
    this.#atStart ??= mapped();
    limitData(this.#atStart + UNTOUCHED + bytes);
  }
}

/** What the system counts; 0 where there is no /proc, and no limit either. */
function mapped(): Bytes {
  const found = /^VmData:\s+(\d+) kB$/m.exec(systemFiles.read("/proc/self/status") ?? "");
  return Number(found?.[1] ?? 0) * 1024;
}
