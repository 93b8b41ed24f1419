/**
 * Scratch memory that grows and is kept. Touching fresh pages costs six times as much as copying into used pages, so
 * nothing is freed before its owner is, and what an owner releases is reused by the next one.
 */
import { getHeapStatistics } from "node:v8";
import { SpareMemory } from "./spare-memory.ts";

const FIRST_BYTES = 1024;
/**
 * Untouched pages cost nothing, but every growth touches fresh ones and copies. With a factor of 1.5 a block of 64 MiB
 * was written almost three times, which was a fifth of its task's time.
 */
const GROWTH = 3;

/** The memory of one job's blocks is reused by the next job. Limited to a small share of the process's memory. */
const spare = new SpareMemory(Math.min(64 << 20, getHeapStatistics().heap_size_limit / 16));

/** Frees the memory that waits for the next job. */
export function dropSpareMemory(): void {
  spare.clear();
}

const NO_BYTES = new Uint8Array(0);
const NO_WORDS = new Int32Array(0);

export class GrowableBytes {
  bytes: Uint8Array = NO_BYTES;
  /** The same memory as 32-bit words. */
  words: Int32Array = NO_WORDS;

  /** Makes room for `total` bytes and keeps the first `used`. Growing makes new arrays: read them afterwards. */
  reserve(total: number, used: number): void {
    const capacity = this.bytes.byteLength;
    if (total <= capacity) return;
    // The kernel reads a buffer in place only if something comes after it.
    const size = Math.ceil((Math.max(total, capacity * GROWTH, FIRST_BYTES) + 1) / 64) * 64;
    // Not zeroed, because every byte is written before it is read.
    const memory = spare.take(size) ?? Buffer.allocUnsafeSlow(size).buffer;
    const bytes = new Uint8Array(memory);
    if (used > 0) bytes.set(this.bytes.subarray(0, used));
    this.bytes = bytes;
    this.words = new Int32Array(memory, 0, memory.byteLength >>> 2);
  }

  /** Called when nothing that was built here is read any more. */
  release(): void {
    spare.give(this.bytes.buffer);
    this.bytes = NO_BYTES;
    this.words = NO_WORDS;
  }
}
