/**
 * The memory that a stream copies its chunks into. It is always the same memory, because touching fresh memory costs
 * more than the copy. The channel owns it and passes it from one stream to the next.
 */
import { type Pinned, pin } from "../native/index.ts";

const AREA_BYTES = 256 << 10;
/**
 * How much is kept for the next stream. What a stream with wide rows or long texts needed beyond this is
 * garbage-collected.
 */
const KEPT_BYTES = 4 << 20;
const ALIGNMENT = 64;

export interface Slot {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly address: number;
}

export class Scratch {
  #kept: Pinned[] = [];
  #inUse: Pinned[] = [];
  #used = AREA_BYTES;

  /** A separate place, valid until `reset`. */
  take(size: number): Slot {
    if (size > AREA_BYTES / 4) {
      const area = this.#area(2 ** Math.ceil(Math.log2(size)));
      // An area for a single slot goes below the area that is being filled.
      this.#inUse.unshift(area);
      return { bytes: new Uint8Array(area.buffer, 0, area.buffer.byteLength), address: area.address };
    }
    const rounded = Math.ceil(size / ALIGNMENT) * ALIGNMENT;
    if (this.#used + rounded > AREA_BYTES) {
      this.#inUse.push(this.#area(AREA_BYTES));
      this.#used = 0;
    }
    const area = this.#inUse.at(-1) ?? this.#area(AREA_BYTES);
    const slot = { bytes: new Uint8Array(area.buffer, this.#used, rounded), address: area.address + this.#used };
    this.#used += rounded;
    return slot;
  }

  /** All slots may be given out again. */
  reset(): void {
    let total = 0;
    this.#kept = [...this.#inUse, ...this.#kept].filter((area) => {
      total += area.buffer.byteLength;
      return total <= KEPT_BYTES;
    });
    this.#inUse = [];
    this.#used = AREA_BYTES;
  }

  #area(size: number): Pinned {
    const at = this.#kept.findIndex((area) => area.buffer.byteLength === size);
    const [reused] = at === -1 ? [] : this.#kept.splice(at, 1);
    return reused ?? pin(size);
  }
}
