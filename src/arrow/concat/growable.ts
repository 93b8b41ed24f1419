/**
 * Scratch memory that grows and is kept: touching fresh pages costs six times a copy into pages touched before,
 * so nothing here is given back before its owner is, and what its owner releases is used again by the next.
 */
import { getHeapStatistics } from "node:v8";
import { SpareMemory } from "./spare-memory.ts";

const FIRST_BYTES = 1024;
/**
 * Pages that are not touched are not there, but every step touches fresh ones and copies: with half as much again at a
 * time a block of 64 MiB was written almost three times, which was a fifth of what its task took.
 */
const GROWTH = 3;

/** What one job's blocks were put together in serves the next job's; little where the process has little. */
const spare = new SpareMemory(Math.min(64 << 20, getHeapStatistics().heap_size_limit / 16));

/** Lets go of what waits for the next job. */
export function dropSpareMemory(): void {
  spare.clear();
}

const NO_BYTES = new Uint8Array(0);
const NO_WORDS = new Int32Array(0);

export class GrowableBytes {
  bytes: Uint8Array = NO_BYTES;
  /** The same memory as 32-bit words. */
  words: Int32Array = NO_WORDS;

  /** Makes room for `total` bytes in all, keeping the first `used`. Growing makes new arrays: read them after. */
  reserve(total: number, used: number): void {
    const capacity = this.bytes.byteLength;
    if (total <= capacity) return;
    const size = Math.ceil(Math.max(total, capacity * GROWTH, FIRST_BYTES) / 64) * 64;
    // Not zeroed: every byte is written before it is read.
    const memory = spare.take(size) ?? Buffer.allocUnsafeSlow(size).buffer;
    const bytes = new Uint8Array(memory);
    if (used > 0) bytes.set(this.bytes.subarray(0, used));
    this.bytes = bytes;
    this.words = new Int32Array(memory, 0, memory.byteLength >>> 2);
  }

  /** Nobody reads what was built here any more. */
  release(): void {
    spare.give(this.bytes.buffer);
    this.bytes = NO_BYTES;
    this.words = NO_WORDS;
  }
}
