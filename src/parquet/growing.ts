/** A byte buffer that grows as bytes are appended. */

const FIRST = 64 * 1024;
/** Bytes of a number of 53 bits, at seven bits each. */
const LONGEST_NUMBER = 8;

export class GrowingBytes {
  #buffer: Buffer;
  length = 0;

  constructor(room = FIRST) {
    this.#buffer = Buffer.allocUnsafeSlow(room);
  }

  /** Borrowed, until more is appended. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.length);
  }

  append(bytes: Uint8Array, start = 0, end = bytes.length): void {
    const to = this.length;
    this.#makeRoom(end - start);
    // For a few bytes, a loop is faster than a call.
    if (end - start < 32) for (let i = start, at = to; i < end; i++, at++) this.#buffer[at] = bytes[i] ?? 0;
    else this.#buffer.set(bytes.subarray(start, end), to);
    this.length = to + end - start;
  }

  /** The variable-length encoding of Thrift's compact protocol and of Protocol Buffers. */
  appendUnsigned(value: number): void {
    this.#makeRoom(LONGEST_NUMBER);
    let rest = value;
    while (rest >= 128) {
      this.#buffer[this.length++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    this.#buffer[this.length++] = rest;
  }

  #makeRoom(more: number): void {
    const wanted = this.length + more;
    if (wanted <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(wanted, 2 * this.#buffer.length));
    this.#buffer.copy(larger, 0, 0, this.length);
    this.#buffer = larger;
  }
}
