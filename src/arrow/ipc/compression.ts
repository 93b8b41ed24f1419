/** Compressed buffers of IPC bodies: eight bytes with the uncompressed length (-1: not compressed), then the frame. */
import zlib from "node:zlib";
import { ValueError } from "../../errors/index.ts";
import { decodeLz4Frame } from "./lz4.ts";

export type Decompress = (bytes: Uint8Array) => Uint8Array;

const LZ4_FRAME = 0;
const ZSTD = 1;

export function decompressor(codec: number): Decompress {
  const decode = codec === LZ4_FRAME ? decodeLz4Frame : codec === ZSTD ? zstdDecoder() : null;
  if (decode === null) throw new ValueError(`Arrow data compressed with an unknown codec (${codec}).`);
  return (bytes) => {
    if (bytes.byteLength < 8) throw new ValueError("Arrow data cut short: a compressed buffer has no length.");
    const view = new DataView(bytes.buffer, bytes.byteOffset, 8);
    const length = Number(view.getBigInt64(0, true));
    if (length === -1) return bytes.subarray(8);
    if (length < 0 || length > 0xffffffff) throw new ValueError(`Not Arrow data: a buffer of ${length} bytes.`);
    return decode(bytes.subarray(8), length);
  };
}

type ZstdDecompress = (bytes: Uint8Array) => Uint8Array;

/** zlib has zstd from Node 22.15 on. */
function zstdDecoder(): (bytes: Uint8Array, length: number) => Uint8Array {
  const native: unknown = Reflect.get(zlib, "zstdDecompressSync");
  if (typeof native !== "function") {
    throw new ValueError(
      `Arrow data compressed with zstd needs Node 22.15 or later; this is Node ${process.versions.node}. ` +
        "Write it with lz4 or uncompressed, or run a later Node.",
    );
  }
  const decompress = native as ZstdDecompress;
  return (bytes, length) => {
    const decoded = decompress(bytes);
    if (decoded.byteLength !== length) {
      throw new ValueError(`Arrow data is damaged: ${decoded.byteLength} bytes after zstd instead of ${length}.`);
    }
    return new Uint8Array(decoded.buffer, decoded.byteOffset, decoded.byteLength);
  };
}
