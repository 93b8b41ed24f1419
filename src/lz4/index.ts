/** The LZ4 block format: https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md. The caller adds frames. */
export { decodeLz4Block, Lz4Error } from "./decode.ts";
export { encodeLz4Block, lz4Bound } from "./encode.ts";
