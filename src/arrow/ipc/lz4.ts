/**
 * The LZ4 frame format, decoding only (what pyarrow writes into Feather files by default). Frame and block
 * checksums are skipped, not verified; lengths are.
 */
import { ValueError } from "../../errors/index.ts";

const MAGIC = 0x184d2204;

export function decodeLz4Frame(frame: Uint8Array, length: number): Uint8Array {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const target = new Uint8Array(length);
  try {
    let from = 0;
    let to = 0;
    while (from + 4 <= frame.byteLength && to < length) {
      if (view.getUint32(from, true) !== MAGIC) throw damaged("no LZ4 frame");
      const flags = view.getUint8(from + 4);
      if (flags >> 6 !== 1) throw damaged("unknown LZ4 version");
      const hasBlockChecksum = (flags & 0x10) !== 0;
      const hasSize = (flags & 0x08) !== 0;
      const hasChecksum = (flags & 0x04) !== 0;
      const hasDictionary = (flags & 0x01) !== 0;
      from += 7 + (hasSize ? 8 : 0) + (hasDictionary ? 4 : 0);
      for (;;) {
        const header = view.getUint32(from, true);
        from += 4;
        if (header === 0) break;
        const size = header & 0x7fffffff;
        if (from + size > frame.byteLength) throw damaged("a block is cut short");
        if (header >>> 31 === 1) {
          target.set(frame.subarray(from, from + size), to);
          to += size;
        } else {
          to = decodeBlock(frame, from, from + size, target, to);
        }
        from += size + (hasBlockChecksum ? 4 : 0);
      }
      if (hasChecksum) from += 4;
    }
    if (to !== length) throw damaged(`${to} bytes instead of ${length}`);
  } catch (error) {
    if (error instanceof RangeError) throw damaged("it is cut short");
    throw error;
  }
  return target;
}

function damaged(how: string): ValueError {
  return new ValueError(`Arrow data is damaged: a buffer compressed with LZ4: ${how}.`);
}

/** One block; matches may reach back into earlier blocks of the same target. Returns the new end. */
function decodeBlock(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
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
    if (from + literals > end || to + literals > target.length) throw damaged("literals past the end");
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
    if (distance === 0 || distance > to || to + matched > target.length) throw damaged("a match out of bounds");
    if (distance >= matched && matched > 32) target.copyWithin(to, to - distance, to - distance + matched);
    else for (let index = 0; index < matched; index++) target[to + index] = target[to + index - distance] as number;
    to += matched;
  }
  return to;
}
