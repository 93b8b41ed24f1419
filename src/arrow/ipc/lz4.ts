/**
 * The LZ4 frame format, decoding only (pyarrow writes it into Feather files by default). Checksums of frames and blocks
 * are skipped; lengths are verified.
 */
import { ValueError } from "../../errors/index.ts";
import { decodeLz4Block, Lz4Error } from "../../lz4/index.ts";
import { isErrorNamed } from "../../realm/index.ts";

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
          to = decodeLz4Block(frame, from, from + size, target, to);
        }
        from += size + (hasBlockChecksum ? 4 : 0);
      }
      if (hasChecksum) from += 4;
    }
    if (to !== length) throw damaged(`${to} bytes instead of ${length}`);
  } catch (error) {
    if (isErrorNamed(error, "RangeError")) throw damaged("it is cut short");
    if (error instanceof Lz4Error) throw damaged(error.message);
    throw error;
  }
  return target;
}

function damaged(how: string): ValueError {
  return new ValueError(`Arrow data is damaged: a buffer compressed with LZ4: ${how}.`);
}
