/** Node's zstd, which only newer versions of Node have. */
import * as zlib from "node:zlib";

export const { createZstdDecompress } = zlib as { createZstdDecompress?: () => zlib.Gunzip };

export const unpacksZstd = createZstdDecompress !== undefined;
