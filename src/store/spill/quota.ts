/** `maxSpill`: how many bytes may be in spill files. Bytes are charged before they are written. */
import type { Bytes } from "../../protocol/index.ts";

export class QuotaPassed extends Error {}

export class Quota {
  #used: Bytes = 0;

  constructor(readonly limit: Bytes | null) {}

  get used(): Bytes {
    return this.#used;
  }

  take(bytes: Bytes): void {
    if (this.limit !== null && this.#used + bytes > this.limit) throw new QuotaPassed();
    this.#used += bytes;
  }

  giveBack(bytes: Bytes): void {
    this.#used -= bytes;
  }
}
