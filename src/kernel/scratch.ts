/**
 * Memory that a stream copies its chunks into, always the same places: touching fresh memory costs more than the copy.
 * Areas go from one stream to the next through the channel that owns this.
 */
import { type Pinned, pin } from "../native/index.ts";

const AREA_BYTES = 256 << 10;
/** Kept for the next stream; what one wide or long-stringed stream needed above it is left to the collector. */
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

  /** A place of its own, until `reset`. */
  take(size: number): Slot {
    if (size > AREA_BYTES / 4) {
      const area = this.#area(2 ** Math.ceil(Math.log2(size)));
      // An area of its own goes below the one being filled.
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

  /** Everything taken may be taken again. */
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
