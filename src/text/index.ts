/** Text of files: what they hold as UTF-8, whatever they are packed and encoded in, and where their lines end. */
export { cutAtLines, cutPoints, linesBefore } from "./lines.ts";
export { badBytesError, checkUtf8, isPlain, packingOf, textOf, unpacksZstd } from "./stream.ts";
export { packedFault } from "./whole-packed.ts";
