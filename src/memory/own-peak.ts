/**
 * The highest private memory of this process since a moment, such as the beginning of a task. The system keeps the
 * highest resident memory of a process, and forgets it when a 5 is written to `clear_refs`: so memory that comes and
 * goes within a millisecond is seen. Each of the two calls takes 2 µs. The most shared memory that was seen here is
 * taken off, so the figure is exact unless shared memory comes and goes between two looks.
 *
 * Where the system refuses, only the memory at each look counts.
 */
import { writeSync } from "node:fs";
import type { Bytes } from "../protocol/index.ts";
import { opened, ownMemory } from "./own-memory.ts";

const HIGHEST_RESIDENT = Buffer.from("5");
/** The system counts the pages of each processor in batches: two figures of one moment may differ by this. */
const BATCHES: Bytes = 4 * 2 ** 20;

export class OwnPeak {
  /** Undefined: not opened yet; null: the system refuses. */
  #clear: number | null | undefined;
  /**
   * What the mark never falls below: the memory of the process that started this one, which had it before its program
   * was loaded. Null: not known yet.
   */
  #floor: Bytes | null = null;
  #before: Bytes = 0;
  #private: Bytes = 0;
  #shared: Bytes = 0;

  begin(): void {
    this.#reset();
    const { private: own, shared } = ownMemory();
    this.#before = own;
    this.#private = own;
    this.#shared = shared;
    this.#floor ??= mark() > own + shared + BATCHES ? mark() : 0;
  }

  /** So far, how much of it was not there at the beginning, and what there is now. Each look makes them better. */
  look(): { readonly peak: Bytes; readonly added: Bytes; readonly now: Bytes } {
    const { private: own, shared } = ownMemory();
    this.#shared = Math.max(this.#shared, shared);
    const highest = this.#clear === null ? 0 : mark();
    const marked = highest > (this.#floor ?? 0) ? highest - this.#shared : 0;
    this.#private = Math.max(this.#private, own, marked);
    return { peak: this.#private, added: this.#private - this.#before, now: own };
  }

  #reset(): void {
    if (this.#clear === undefined) this.#clear = opened("/proc/self/clear_refs", "w");
    if (this.#clear === null) return;
    try {
      writeSync(this.#clear, HIGHEST_RESIDENT, 0, HIGHEST_RESIDENT.length, 0);
    } catch {
      this.#clear = null;
    }
  }
}

/** The highest resident memory of this process since the system was told to begin anew. */
function mark(): Bytes {
  return process.resourceUsage().maxRSS * 1024;
}
