/**
 * When the user is told of spilling: at the first MiB, and whenever the total has doubled. Pure; the text and its place
 * are others' work.
 */
import type { Bytes, Notice } from "../../protocol/index.ts";

/** The smallest total that is worth a notice. */
const FIRST: Bytes = 2 ** 20;

class Totals {
  bytes: Bytes = 0;
  objects = 0;
  seconds = 0;
  #nextAt: Bytes = FIRST;

  /** True if it is time for a notice. */
  add(bytes: Bytes, objects: number, seconds: number): boolean {
    this.bytes += bytes;
    this.objects += objects;
    this.seconds += seconds;
    if (this.bytes < this.#nextAt) return false;
    this.#nextAt = 2 * this.bytes;
    return true;
  }
}

export class SpillLog {
  readonly #out = new Totals();
  readonly #back = new Totals();

  constructor(
    private readonly pid: number,
    private readonly host: string,
  ) {}

  /** The notice to show, or null. */
  spilled(bytes: Bytes, objects: number, seconds: number): Notice | null {
    return this.#out.add(bytes, objects, seconds) ? { kind: "spilled", ...this.#told(this.#out) } : null;
  }

  restored(bytes: Bytes, objects: number, seconds: number): Notice | null {
    return this.#back.add(bytes, objects, seconds) ? { kind: "restored", ...this.#told(this.#back) } : null;
  }

  #told({ bytes, objects, seconds }: Totals) {
    const { pid, host } = this;
    return { bytes, objects, seconds, pid, host };
  }
}
