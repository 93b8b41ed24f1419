/**
 * What the user is told of spilling: totals so far, at the first MiB and whenever they have doubled. Pure; who shows
 * the lines is somebody else's.
 */
import type { Bytes } from "../../protocol/index.ts";

const MIB = 2 ** 20;
/** More than this deserves advice. */
const HEAVY: Bytes = 10 * 2 ** 30;
const REMEDIES =
  " This is heavy spilling: more memory per CPU, more machines, or a local NVMe directory (localDirectory) make it faster.";

class Totals {
  bytes: Bytes = 0;
  #objects = 0;
  #seconds = 0;
  #nextAt: Bytes = MIB;

  /** "120 MiB, 3 objects, read throughput 800 MiB/s." where it is time for a line. */
  add(bytes: Bytes, objects: number, seconds: number, verb: string): string | null {
    this.bytes += bytes;
    this.#objects += objects;
    this.#seconds += seconds;
    if (this.bytes < this.#nextAt) return null;
    this.#nextAt = 2 * this.bytes;
    const amount = this.bytes / MIB;
    const rate = this.#seconds > 0 ? amount / this.#seconds : 0;
    return `${Math.round(amount)} MiB, ${this.#objects} objects, ${verb} throughput ${Math.round(rate)} MiB/s.`;
  }
}

export class SpillLog {
  readonly #who: string;
  readonly #out = new Totals();
  readonly #back = new Totals();

  /** `process` as in "supervisor 4711". */
  constructor(process: string, host: string) {
    this.#who = ` (${process} on ${host})`;
  }

  /** The line to show, or null. */
  spilled(bytes: Bytes, objects: number, seconds: number): string | null {
    const totals = this.#out.add(bytes, objects, seconds, "write");
    if (totals === null) return null;
    return `Spilled ${totals}${this.#who}${this.#out.bytes > HEAVY ? REMEDIES : ""}`;
  }

  restored(bytes: Bytes, objects: number, seconds: number): string | null {
    const totals = this.#back.add(bytes, objects, seconds, "read");
    return totals === null ? null : `Restored ${totals}${this.#who}`;
  }
}
