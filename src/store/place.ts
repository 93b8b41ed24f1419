/** Where a block's bytes are on disk, and the orders that write them there and read them back. */
import type { ArenaRange, BlockId, Bytes } from "../protocol/index.ts";

/** Kept small: the ledger keeps one for each block that was written to disk. */
export interface SpillPlace {
  readonly file: number;
  readonly offset: Bytes;
  /** After compression. */
  readonly stored: Bytes;
  readonly codec: "none" | "lz4" | "zstd";
}

/** A block that is to be written to disk, or read from it. */
export interface SpillOrder {
  readonly id: BlockId;
  readonly range: ArenaRange;
  readonly checksum: number;
}

export interface RestoreOrder extends SpillOrder {
  readonly place: SpillPlace;
}
