/**
 * Compression of spilled blocks, in chunks of a fixed raw size that know nothing of each other: memory is bounded, and
 * the event loop is held for one chunk at most. A chunk is a word (its stored length; the highest bit is set where it
 * is stored as it is, because it would not shrink) and the bytes.
 */
import * as zlib from "node:zlib";
import { OptionError } from "../../errors/index.ts";
import { decodeLz4Block, encodeLz4Block } from "../../lz4/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import type { SpillCompression } from "./settings.ts";
import { checkZstd } from "./zstd.ts";

/** LZ4 takes less than a millisecond for it, on the event loop; smaller ones would find fewer repeats. */
export const CHUNK: Bytes = 128 << 10;
export const CHUNK_HEADER: Bytes = 4;
const AS_IT_IS = 0x8000_0000;

export interface Codec {
  readonly name: "lz4" | "zstd";
  /** Returns the length in `into`, which has room for more than `raw`. */
  encode(raw: Uint8Array, into: Uint8Array): Promise<Bytes>;
  /** Returns the length in `into`; rejects what it did not encode. */
  decode(coded: Uint8Array, into: Uint8Array): Promise<Bytes>;
}

const lz4: Codec = {
  name: "lz4",
  encode: async (raw, into) => encodeLz4Block(raw, into),
  decode: async (coded, into) => decodeLz4Block(coded, 0, coded.length, into, 0),
};

/** Off the event loop. zlib has it from Node 22.15 on. */
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

/** The codec of a setting; null for none. */
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

/** One chunk with its header, into `into`. Returns its length. */
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
