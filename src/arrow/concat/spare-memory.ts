/**
 * Buffers that were touched and are not in use, up to a number of bytes; the oldest ones are dropped first. Small
 * buffers are not kept, because the allocator has them at hand.
 */

const SMALLEST = 64 << 10;
/** A buffer this many times too large is left for a larger need. */
const TOO_LARGE = 4;

export class SpareMemory {
  /** The oldest first. */
  readonly #buffers: ArrayBufferLike[] = [];
  #bytes = 0;

  constructor(private readonly capacity: number) {}

  get byteLength(): number {
    return this.#bytes;
  }

  /** The smallest buffer of at least `size` bytes, with arbitrary content; null if none is about as large. */
  take(size: number): ArrayBufferLike | null {
    let best = -1;
    for (const [index, { byteLength }] of this.#buffers.entries()) {
      if (byteLength < size || byteLength > size * TOO_LARGE) continue;
      if (byteLength < (this.#buffers[best]?.byteLength ?? Number.POSITIVE_INFINITY)) best = index;
    }
    return best === -1 ? null : this.#remove(best);
  }

  give(buffer: ArrayBufferLike): void {
    if (buffer.byteLength < SMALLEST || buffer.byteLength > this.capacity) return;
    this.#buffers.push(buffer);
    this.#bytes += buffer.byteLength;
    while (this.#bytes > this.capacity) this.#remove(0);
  }

  clear(): void {
    this.#buffers.length = 0;
    this.#bytes = 0;
  }

  #remove(index: number): ArrayBufferLike | null {
    const [buffer] = this.#buffers.splice(index, 1);
    this.#bytes -= buffer?.byteLength ?? 0;
    return buffer ?? null;
  }
}
