/**
 * Where the buffers of a table are while DuckDB may read them. Large buffers, and those in native memory, are read in
 * place. Others are copied once into malloc'ed chunks, which are reused for the next table (fresh memory is slow to
 * touch).
 */
import { copyBits } from "../arrow/index.ts";
import { type Allocation, addressOf, addressOfBuffer, allocate, pin } from "../native/index.ts";
import { isArrayBuffer } from "../realm/index.ts";

const SMALLEST_CHUNK = 64 << 10;
const LARGEST_GROWTH = 8 << 20;
const ALIGNMENT = 64;
/**
 * From this size on, asking for the address of JavaScript's memory (which does not move) is cheaper than a copy, and
 * needs no further memory.
 */
const LARGE = 256 << 10;
/** The same where the buffers are so many that a copy of all of them would be too much. */
const LARGE_OF_MANY = 1 << 10;
const WIDEST_VALUE = 16;

/** Freed chunks of all tables of a kernel, up to a limit. The chunk freed last is used first. */
export class ChunkPool {
  readonly #free: Allocation[] = [];
  #bytes = 0;

  constructor(readonly keepBytes: number) {}

  take(size: number): Allocation {
    for (let at = this.#free.length - 1; at >= 0; at--) {
      const chunk = this.#free[at];
      // A chunk that is far too large is not used: a large need would then have to touch fresh memory.
      if (chunk === undefined || chunk.size < size || chunk.size > 4 * size) continue;
      this.#free.splice(at, 1);
      this.#bytes -= chunk.size;
      return chunk;
    }
    return allocate(size);
  }

  giveBack(chunk: Allocation): void {
    this.#free.push(chunk);
    this.#bytes += chunk.size;
    while (this.#bytes > this.keepBytes) {
      const oldest = this.#free.shift();
      if (oldest === undefined) return;
      this.#bytes -= oldest.size;
      oldest.free();
    }
  }

  clear(): void {
    for (const chunk of this.#free.splice(0)) chunk.free();
    this.#bytes = 0;
  }
}

const nothing = pin(ALIGNMENT);

export class TableMemory {
  readonly #pool: ChunkPool;
  readonly #chunks: Allocation[] = [];
  /** Buffers that are read in place; the references keep them from being collected before DuckDB is done. */
  readonly #kept: ArrayBuffer[] = [];
  #used = 0;

  constructor(
    pool: ChunkPool,
    /** Whether it is for the buffers of very many columns. */
    private readonly isWide = false,
  ) {
    this.#pool = pool;
  }

  /** The address of bytes [start, start + length) of a buffer. */
  place(buffer: Uint8Array | null, start: number, length: number): number {
    if (buffer === null || length === 0) return nothing.address;
    const address = addressOf(buffer);
    if (address !== null) return address + start;
    const inPlace = length < (this.isWide ? LARGE_OF_MANY : LARGE) ? null : this.#keep(buffer, start, length);
    if (inPlace !== null) return inPlace;
    const target = this.#take(length);
    target.bytes.set(buffer.subarray(start, start + length));
    return target.address;
  }

  /** The address of a bitmap whose first bit is bit `start` of a buffer; 0 for no buffer. */
  placeBits(buffer: Uint8Array | null, start: number, length: number): number {
    if (buffer === null) return 0;
    if (start % 8 === 0) return this.place(buffer, start / 8, (length + 7) >>> 3);
    const target = this.#take((length + 7) >>> 3);
    copyBits(target.bytes, 0, buffer, start, length);
    return target.address;
  }

  free(): void {
    for (const chunk of this.#chunks.splice(0)) this.#pool.giveBack(chunk);
    this.#kept.length = 0;
    this.#used = 0;
  }

  /**
   * Null if the buffer cannot be read in place: it is not aligned, is shared, or has nothing after its last byte (see
   * `#take`).
   */
  #keep({ buffer, byteOffset }: Uint8Array, start: number, length: number): number | null {
    const first = byteOffset + start;
    if (!isArrayBuffer(buffer) || first + length >= buffer.byteLength) return null;
    const address = addressOfBuffer(buffer) + first;
    if (address % WIDEST_VALUE !== 0) return null;
    this.#kept.push(buffer);
    return address;
  }

  #take(length: number): { readonly bytes: Uint8Array; readonly address: number } {
    // DuckDB reads one byte past a bitmap that does not start at a byte, so a bitmap never ends at the end of a chunk.
    const needed = (Math.ceil(length / ALIGNMENT) + 1) * ALIGNMENT;
    let chunk = this.#chunks.at(-1);
    if (chunk === undefined || this.#used + needed > chunk.size) {
      const growth = Math.min(LARGEST_GROWTH, 2 * (chunk?.size ?? SMALLEST_CHUNK / 2));
      chunk = this.#pool.take(Math.max(needed, growth));
      this.#chunks.push(chunk);
      this.#used = 0;
    }
    const at = this.#used;
    this.#used += needed;
    return { bytes: chunk.view(at, length), address: chunk.address + at };
  }
}
