/** Text of files: their content as UTF-8, unpacked and decoded, and the ends of their lines. */
export { cutAtLines, cutPoints, linesBefore } from "./lines.ts";
export { badBytesError, checkUtf8, isPlain, packingOf, textOf } from "./stream.ts";
export { packedFault } from "./whole-packed.ts";
export { unpacksZstd } from "./zstd.ts";
