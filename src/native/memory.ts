/**
 * Memory outside the JavaScript heap, and addresses: mapped files, malloc'ed areas, and buffers of our own whose
 * address may be passed to C. Knows nothing of blocks or Arrow. A view over freed memory crashes the process: the code
 * that frees memory must make sure that there is none.
 */
import { StoreError } from "../errors/index.ts";
import { addressOfBuffer, viewAt } from "./foreign.ts";
import { errnoName, fromC, isLinux } from "./libc.ts";

const PROT_READ = 1;
const PROT_WRITE = 2;
const MAP_SHARED = 1;
const MADV_POPULATE_WRITE = 23;
const ALIGNMENT = 64;

const mmap = fromC<[number, number, number, number, number, number], number>(
  "int64 mmap(uint64 address, uint64 length, int protection, int flags, int fd, int64 offset)",
);
const madvise = fromC<[number, number, number], number>("int madvise(uint64 address, uint64 length, int advice)");
const munmap = fromC<[number, number], number>("int munmap(uint64 address, uint64 length)");
const alignedAlloc = fromC<[number, number], number>("uint64 aligned_alloc(uint64 alignment, uint64 size)");
const free = fromC<[number], void>("void free(uint64 address)");
const memcpy = fromC<[number, number, number], number>("uint64 memcpy(uint64 to, uint64 from, uint64 length)");

/** A larger ArrayBuffer aborts the process. */
const LARGEST_VIEW = 2 ** 32;
const WINDOW_STEP = 2 ** 31;

const addresses = new WeakMap<ArrayBufferLike, number>();

/** The address of a view's first byte if its memory is native or pinned; null for JavaScript's own. */
export function addressOf(view: Uint8Array): number | null {
  const base = addresses.get(view.buffer);
  return base === undefined ? null : base + view.byteOffset;
}

/**
 * A stretch of native memory. One ArrayBuffer covers up to 4 GiB of it; it is made when first used and shared by every
 * view. An ArrayBuffer costs 1.5 µs and a collection later, a view of it nothing.
 */
class Region {
  readonly #windows = new Map<number, ArrayBuffer>();
  protected freed = false;

  constructor(
    readonly address: number,
    readonly size: number,
  ) {}

  view(offset: number, length: number): Uint8Array<ArrayBuffer> {
    if (this.freed) throw new StoreError("This memory has already been given back.");
    if (!(offset >= 0 && length >= 0 && offset + length <= this.size)) {
      throw new StoreError(`Bytes ${offset} to ${offset + length} are outside of this memory of ${this.size} bytes.`);
    }
    if (length > LARGEST_VIEW) {
      throw new StoreError(
        `${length} bytes cannot be viewed at once: the limit is 4 GiB. Use smaller blocks (targetMaxBlockSize).`,
      );
    }
    const start = this.size <= LARGEST_VIEW ? 0 : Math.floor(offset / WINDOW_STEP) * WINDOW_STEP;
    if (offset + length <= start + LARGEST_VIEW) return new Uint8Array(this.#window(start), offset - start, length);
    return new Uint8Array(remembered(this.address + offset, length));
  }

  #window(start: number): ArrayBuffer {
    let window = this.#windows.get(start);
    if (window === undefined) {
      window = remembered(this.address + start, Math.min(LARGEST_VIEW, this.size - start));
      this.#windows.set(start, window);
    }
    return window;
  }

  protected forget(): boolean {
    if (this.freed) return false;
    this.freed = true;
    for (const window of this.#windows.values()) addresses.delete(window);
    this.#windows.clear();
    return true;
  }
}

function remembered(address: number, length: number): ArrayBuffer {
  const buffer = viewAt(address, length);
  addresses.set(buffer, address);
  return buffer;
}

/** A mapped file. */
export class NativeMemory extends Region {
  /**
   * Makes the pages of a range (which starts at a page) and maps them for writing, in one call instead of a page fault
   * each. False if that was impossible: no space, or a Linux before 5.14.
   */
  populate(offset: number, length: number): boolean {
    return isLinux && madvise(this.address + offset, length, MADV_POPULATE_WRITE) === 0;
  }

  unmap(): void {
    if (this.forget() && munmap(this.address, this.size) !== 0) {
      throw new StoreError(`munmap of ${this.size} bytes failed: ${errnoName()}.`);
    }
  }
}

/** malloc'ed memory, aligned to 64 bytes. */
export class Allocation extends Region {
  free(): void {
    if (this.forget()) free(this.address);
  }
}

/** Maps the first `size` bytes of a file, shared with all other processes that map it. */
export function mapFile(fd: number, size: number, writable: boolean): NativeMemory {
  if (size <= 0) throw new StoreError(`A file cannot be mapped with a length of ${size} bytes.`);
  const address = mmap(0, size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  if (address === -1) throw new StoreError(`Mapping ${size} bytes of a file failed: ${errnoName()}.`);
  return new NativeMemory(address, size);
}

export function allocate(size: number): Allocation {
  const rounded = Math.max(ALIGNMENT, Math.ceil(size / ALIGNMENT) * ALIGNMENT);
  const address = alignedAlloc(ALIGNMENT, rounded);
  if (address === 0) throw new StoreError(`${rounded} bytes of memory were refused (${errnoName()}).`);
  return new Allocation(address, rounded);
}

export function copy(to: number, from: number, length: number): void {
  if (length > 0) memcpy(to, from, length);
}

/** JavaScript's own memory, at an address that C may use as long as the buffer is referenced from here. */
export interface Pinned {
  readonly buffer: ArrayBuffer;
  readonly address: number;
}

export function pin(size: number): Pinned {
  const buffer = new ArrayBuffer(Math.max(size, 8));
  const address = addressOfBuffer(buffer);
  addresses.set(buffer, address);
  return { buffer, address };
}

const mallocTrimC = fromC<[number], number>("int malloc_trim(uint64 keep)");

/** Gives freed malloc memory back to the system. True if there was some. Only glibc's allocator has such a call. */
export function mallocTrim(): boolean {
  return isLinux && mallocTrimC(0) === 1;
}
