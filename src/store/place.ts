/** Where a block's bytes are on disk. Small: the ledger keeps one for each block that has been written. */
import type { Bytes } from "../protocol/index.ts";

export interface SpillPlace {
  readonly file: number;
  readonly offset: Bytes;
  /** After compression. */
  readonly stored: Bytes;
  readonly codec: "none" | "lz4" | "zstd";
}
