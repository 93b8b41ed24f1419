/**
 * Whether this Node can compress with zstd: zlib has it from Node 22.15 on. Separate from the codecs, so that the
 * program can ask without loading them.
 */
import * as zlib from "node:zlib";
import { OptionError } from "../../errors/index.ts";
import type { SpillCompression } from "./settings.ts";

export function checkZstd(compression: SpillCompression): void {
  if (compression !== "zstd" || "zstdCompress" in zlib) return;
  throw new OptionError(
    `session: spillCompression "zstd" needs Node 22.15 or later; this is Node ${process.versions.node}. ` +
      'Use "lz4", or "auto" for the best codec of this Node.',
  );
}
