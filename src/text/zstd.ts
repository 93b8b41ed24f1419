/**
 * Unpacks zstd files with Node's own zstd, which Node has from version 22.15 on. Node's unpacker stops after the first
 * frame, without an error, and files that were appended to or packed in parallel have several: each frame gets an
 * unpacker of its own.
 */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import * as zlib from "node:zlib";
import { frameEnd } from "./zstd-frames.ts";

const PIECE = 2 ** 18;

const { createZstdDecompress } = zlib as { createZstdDecompress?: () => zlib.Gunzip };

export const unpacksZstd = createZstdDecompress !== undefined;

/** Throws Node's error if a frame is damaged. Only where `unpacksZstd`. */
export async function* unpackedZstd(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    for (let at = 0; at < size; ) {
      const frame = await frameEnd(file, at);
      // Bytes behind the last frame are ignored, as the kernel ignores them.
      if (frame.kind === "none" && at > 0) return;
      // Of a file that is not zstd at all, the unpacker says so.
      const end = frame.kind === "none" ? size : Math.min(frame.end, size);
      if (frame.kind !== "skipped") yield* unpackedFrame(path, at, end);
      at = end;
    }
  } finally {
    await file.close();
  }
}

async function* unpackedFrame(path: string, start: number, end: number): AsyncGenerator<Buffer> {
  if (createZstdDecompress === undefined) throw new Error(`Node ${process.version} has no zstd`);
  const bytes = createReadStream(path, { start, end: end - 1, highWaterMark: PIECE });
  const unpacker = createZstdDecompress();
  // The loop below gets the errors of both.
  pipeline(bytes, unpacker).catch(() => {});
  for await (const piece of unpacker) yield piece;
}
