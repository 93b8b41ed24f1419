/**
 * Compression of spilled blocks, in chunks of a fixed raw size that are independent of each other. So memory is
 * bounded, and the event loop is blocked for one chunk at most. A chunk is a word and the bytes. The word is the stored
 * length; its highest bit is set if the bytes are stored uncompressed because compression would not make them smaller.
 */
import * as zlib from "node:zlib";
import { OptionError } from "../../errors/index.ts";
import { decodeLz4Block, encodeLz4Block } from "../../lz4/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import type { SpillCompression } from "./settings.ts";
import { checkZstd } from "./zstd.ts";

/**
 * LZ4 compresses a chunk of this size in less than a millisecond, on the event loop. Smaller chunks contain fewer
 * repeats.
 */
export const CHUNK: Bytes = 128 << 10;
export const CHUNK_HEADER: Bytes = 4;
const AS_IT_IS = 0x8000_0000;

export interface Codec {
  readonly name: "lz4" | "zstd";
  /** Returns the length in `into`, which has room for more than `raw`. */
  encode(raw: Uint8Array, into: Uint8Array): Promise<Bytes>;
  /** Returns the length in `into`; rejects bytes that this codec did not encode. */
  decode(coded: Uint8Array, into: Uint8Array): Promise<Bytes>;
}

const lz4: Codec = {
  name: "lz4",
  encode: async (raw, into) => encodeLz4Block(raw, into),
  decode: async (coded, into) => decodeLz4Block(coded, 0, coded.length, into, 0),
};

/** Runs in Node's thread pool. zlib has zstd from Node 22.15 on. */
const zstd = zstdOf(Reflect.get(zlib, "zstdCompress"), Reflect.get(zlib, "zstdDecompress"));

type ZlibCall = (
  bytes: Uint8Array,
  options: { readonly maxOutputLength?: number },
  done: (error: Error | null, result: Uint8Array) => void,
) => void;

function isZlibCall(value: unknown): value is ZlibCall {
  return typeof value === "function";
}

function zstdOf(compress: unknown, decompress: unknown): Codec | null {
  if (!isZlibCall(compress) || !isZlibCall(decompress)) return null;
  const run = async (call: ZlibCall, bytes: Uint8Array, into: Uint8Array) => {
    const result = await new Promise<Uint8Array>((resolve, reject) => {
      call(bytes, { maxOutputLength: into.length }, (error, done) => (error === null ? resolve(done) : reject(error)));
    });
    into.set(result);
    return result.length;
  };
  return {
    name: "zstd",
    encode: (raw, into) => run(compress, raw, into),
    decode: (coded, into) => run(decompress, coded, into),
  };
}

/** The codec of a setting; null: no compression. */
export function codecFor(compression: SpillCompression): Codec | null {
  switch (compression) {
    case "none":
      return null;
    case "lz4":
      return lz4;
    case "auto":
      return zstd ?? lz4;
    case "zstd":
      checkZstd(compression);
      return zstd;
    default:
      throw new OptionError(
        `spillCompression: ${JSON.stringify(compression)} is none of "none", "lz4", "zstd" and "auto".`,
      );
  }
}

export function codecNamed(name: Codec["name"]): Codec {
  const codec = name === "lz4" ? lz4 : zstd;
  if (codec === null) throw new OptionError("zstd needs Node 22.15 or later.");
  return codec;
}

/** Writes one chunk with its header into `into`. Returns its length. */
export async function encodeChunk(codec: Codec, raw: Uint8Array, into: Uint8Array): Promise<Bytes> {
  const body = into.subarray(CHUNK_HEADER);
  let length = await codec.encode(raw, body);
  const shrunk = length < raw.length;
  if (!shrunk) {
    body.set(raw);
    length = raw.length;
  }
  viewOf(into).setUint32(0, shrunk ? length : (length | AS_IT_IS) >>> 0, true);
  return CHUNK_HEADER + length;
}

export interface ChunkHeader {
  readonly length: Bytes;
  readonly compressed: boolean;
}

export function chunkHeader(bytes: Uint8Array, at: Bytes): ChunkHeader {
  const word = viewOf(bytes).getUint32(at, true);
  return { length: word % AS_IT_IS, compressed: word < AS_IT_IS };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
