/**
 * Arrow bitmaps: bit i of a buffer is bit (i & 7) of byte (i >> 3). A set bit means that there is a value (or true).
 */

const POPULATION = new Uint8Array(256);
for (let byte = 1; byte < 256; byte++) POPULATION[byte] = (POPULATION[byte >> 1] ?? 0) + (byte & 1);

export function bitmapBytes(bits: number): number {
  return (bits + 7) >>> 3;
}

export function bitAt(bits: Uint8Array, index: number): boolean {
  return (((bits[index >>> 3] ?? 0) >> (index & 7)) & 1) === 1;
}

export function countOnes(bits: Uint8Array, start: number, length: number): number {
  let count = 0;
  let at = start;
  const end = start + length;
  while (at < end && (at & 7) !== 0) count += ((bits[at >>> 3] as number) >> (at++ & 7)) & 1;
  const lastByte = end >>> 3;
  let byte = at >>> 3;
  for (; byte < lastByte; byte++) count += POPULATION[bits[byte] as number] as number;
  for (at = Math.max(at, byte << 3); at < end; at++) count += ((bits[at >>> 3] as number) >> (at & 7)) & 1;
  return count;
}

/** Sets bits [start, start + length). */
export function setOnes(bits: Uint8Array, start: number, length: number): void {
  let at = start;
  const end = start + length;
  for (; at < end && (at & 7) !== 0; at++) bits[at >>> 3] = (bits[at >>> 3] as number) | (1 << (at & 7));
  if (at >= end) return;
  bits.fill(255, at >>> 3, end >>> 3);
  if ((end & 7) !== 0) bits[end >>> 3] = (bits[end >>> 3] as number) | ((1 << (end & 7)) - 1);
}

/** Clears bits [start, start + length). */
export function clearBits(bits: Uint8Array, start: number, length: number): void {
  let at = start;
  const end = start + length;
  for (; at < end && (at & 7) !== 0; at++) bits[at >>> 3] = (bits[at >>> 3] as number) & ~(1 << (at & 7));
  if (at >= end) return;
  bits.fill(0, at >>> 3, end >>> 3);
  if ((end & 7) !== 0) bits[end >>> 3] = (bits[end >>> 3] as number) & ~((1 << (end & 7)) - 1);
}

/**
 * Copies `length` bits. Target bits before `targetStart` are kept. Bits after the copy, up to the end of the last byte
 * touched, become zero, so that equal rows give equal bytes.
 */
export function copyBits(
  target: Uint8Array,
  targetStart: number,
  source: Uint8Array,
  sourceStart: number,
  length: number,
): void {
  if (length === 0) return;
  let to = targetStart;
  let from = sourceStart;
  const end = targetStart + length;
  if ((to & 7) !== 0) {
    const byte = to >>> 3;
    const room = Math.min(8 - (to & 7), length);
    let value = (target[byte] as number) & ((1 << (to & 7)) - 1);
    for (let bit = 0; bit < room; bit++, to++, from++) {
      value |= (((source[from >>> 3] as number) >> (from & 7)) & 1) << (to & 7);
    }
    target[byte] = value;
  }
  if (to >= end) return;
  const first = to >>> 3;
  const bytes = (end - to + 7) >>> 3;
  const shift = from & 7;
  const base = from >>> 3;
  if (shift === 0) {
    target.set(source.subarray(base, base + bytes), first);
  } else {
    let low = source[base] as number;
    for (let index = 0; index < bytes; index++) {
      const high = source[base + index + 1] ?? 0;
      target[first + index] = (low >> shift) | (high << (8 - shift));
      low = high;
    }
  }
  if ((end & 7) !== 0) {
    const last = end >>> 3;
    target[last] = (target[last] as number) & ((1 << (end & 7)) - 1);
  }
}

/** Packs one byte a value (0 or 1) into one bit a value. `target` is overwritten up to its last touched byte. */
export function packBits(target: Uint8Array, flags: Uint8Array, length: number): void {
  const whole = length >>> 3;
  for (let byte = 0, at = 0; byte < whole; byte++, at += 8) {
    target[byte] =
      (flags[at] as number) |
      ((flags[at + 1] as number) << 1) |
      ((flags[at + 2] as number) << 2) |
      ((flags[at + 3] as number) << 3) |
      ((flags[at + 4] as number) << 4) |
      ((flags[at + 5] as number) << 5) |
      ((flags[at + 6] as number) << 6) |
      ((flags[at + 7] as number) << 7);
  }
  if ((length & 7) !== 0) {
    let last = 0;
    for (let at = whole << 3; at < length; at++) last |= (flags[at] as number) << (at & 7);
    target[whole] = last;
  }
}
