/** Decodes one LZ4 block. Lengths are verified, so damaged input gives an error; the caller checks the contents. */

export class Lz4Error extends Error {}

/** Writes to `target` from `at`; matches may reach back to its start. Returns the new end. */
export function decodeLz4Block(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  let from = start;
  let to = at;
  while (from < end) {
    const token = source[from++] as number;
    let literals = token >> 4;
    if (literals === 15) {
      let more: number;
      do {
        more = source[from++] as number;
        literals += more;
      } while (more === 255);
    }
    if (from + literals > end || to + literals > target.length) throw new Lz4Error("literals past the end");
    if (literals > 32) target.set(source.subarray(from, from + literals), to);
    else for (let index = 0; index < literals; index++) target[to + index] = source[from + index] as number;
    from += literals;
    to += literals;
    if (from >= end) break;
    const distance = (source[from] as number) | ((source[from + 1] as number) << 8);
    from += 2;
    let matched = (token & 15) + 4;
    if ((token & 15) === 15) {
      let more: number;
      do {
        more = source[from++] as number;
        matched += more;
      } while (more === 255);
    }
    if (distance === 0 || distance > to || to + matched > target.length) throw new Lz4Error("a match out of bounds");
    if (distance >= matched && matched > 32) target.copyWithin(to, to - distance, to - distance + matched);
    else for (let index = 0; index < matched; index++) target[to + index] = target[to + index - distance] as number;
    to += matched;
  }
  return to;
}
