/**
 * Encodes one LZ4 block: greedy, one candidate per hash, growing steps while nothing matches. Made for speed, not for
 * the smallest result. Data that does not shrink grows by less than half a percent.
 */
const MIN_MATCH = 4;
/**
 * The format: a block ends in at least five literals, and its last match starts at least twelve bytes before the end.
 */
const LAST_LITERALS = 5;
const MATCH_LIMIT = 12;
const FARTHEST = 0xffff;
const HASH_BITS = 14;
/** After 2^this failed searches the step is two bytes, then three, … */
const PATIENCE = 6;

/** Position in the source by the hash of the four bytes there; -1: none. */
const table = new Int32Array(1 << HASH_BITS);

export function lz4Bound(length: number): number {
  return length + Math.ceil(length / 255) + 16;
}

/** Returns the number of bytes written; `target` has at least `lz4Bound(source.length)`. */
export function encodeLz4Block(source: Uint8Array, target: Uint8Array): number {
  const view = new DataView(source.buffer, source.byteOffset, source.byteLength);
  const length = source.length;
  const lastStart = length - MATCH_LIMIT;
  const matchEnd = length - LAST_LITERALS;
  table.fill(-1);
  let to = 0;
  let anchor = 0;
  let at = 0;
  let misses = 1 << PATIENCE;
  while (at <= lastStart) {
    const word = view.getInt32(at, true);
    const hash = Math.imul(word, -1640531535) >>> (32 - HASH_BITS);
    let candidate = table[hash] as number;
    table[hash] = at;
    if (candidate < 0 || at - candidate > FARTHEST || view.getInt32(candidate, true) !== word) {
      at += misses++ >> PATIENCE;
      continue;
    }
    misses = 1 << PATIENCE;
    while (at > anchor && candidate > 0 && source[at - 1] === source[candidate - 1]) {
      at--;
      candidate--;
    }
    let end = at + MIN_MATCH;
    let same = candidate + MIN_MATCH;
    while (end + 4 <= matchEnd && view.getInt32(end, true) === view.getInt32(same, true)) {
      end += 4;
      same += 4;
    }
    while (end < matchEnd && source[end] === source[same]) {
      end++;
      same++;
    }
    const matched = end - at - MIN_MATCH;
    to = putLiterals(source, anchor, at, target, to, Math.min(matched, 15));
    const distance = at - candidate;
    target[to++] = distance & 0xff;
    target[to++] = distance >> 8;
    if (matched >= 15) to = putLength(target, to, matched - 15);
    // Also remember one position inside the match, so that data with a short period is found again.
    if (end - 2 <= lastStart) {
      table[Math.imul(view.getInt32(end - 2, true), -1640531535) >>> (32 - HASH_BITS)] = end - 2;
    }
    at = end;
    anchor = end;
  }
  return putLiterals(source, anchor, length, target, to, 0);
}

/** The token with the literals [start, end) after it. */
function putLiterals(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
  matchPart: number,
): number {
  const count = end - start;
  let to = at;
  target[to++] = (Math.min(count, 15) << 4) | matchPart;
  if (count >= 15) to = putLength(target, to, count - 15);
  if (count > 32) target.set(source.subarray(start, end), to);
  else for (let index = 0; index < count; index++) target[to + index] = source[start + index] as number;
  return to + count;
}

function putLength(target: Uint8Array, at: number, rest: number): number {
  let to = at;
  let left = rest;
  for (; left >= 255; left -= 255) target[to++] = 255;
  target[to++] = left;
  return to;
}
