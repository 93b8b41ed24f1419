/**
 * Scratch memory that grows and is kept: touching fresh pages costs several times a copy into pages touched before,
 * so nothing here is given back before its owner is.
 */

const FIRST_BYTES = 1024;
/**
 * Pages that are not touched are not there, but every step touches fresh ones and copies: with half as much again at a time
 * a block of 64 MiB was written almost three times, which was a fifth of what its task took.
 */
const GROWTH = 3;

export class GrowableBytes {
  bytes: Uint8Array = new Uint8Array(0);
  /** The same memory as 32-bit words. */
  words: Int32Array = new Int32Array(0);

  /** Makes room for `total` bytes in all, keeping the first `used`. Growing makes new arrays: read them after. */
  reserve(total: number, used: number): void {
    const capacity = this.bytes.byteLength;
    if (total <= capacity) return;
    const size = Math.ceil(Math.max(total, capacity * GROWTH, FIRST_BYTES) / 64) * 64;
    // Not zeroed: every byte is written before it is read.
    const memory = Buffer.allocUnsafeSlow(size).buffer;
    const bytes = new Uint8Array(memory, 0, size);
    if (used > 0) bytes.set(this.bytes.subarray(0, used));
    this.bytes = bytes;
    this.words = new Int32Array(memory, 0, size >>> 2);
  }
}
