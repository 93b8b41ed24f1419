/** What a caller of the spill files says and gets: plain data, no behaviour. */
import type { ArenaRange, Bytes } from "../../protocol/index.ts";
import type { SpillPlace } from "../place.ts";

export type { SpillPlace };
export type SpillCompression = "none" | "lz4" | "zstd" | "auto";

export interface SpillSettings {
  readonly arenaPath: string;
  /** Made when first needed; files go to one after the other. */
  readonly directories: readonly string[];
  /** The most bytes in files, over all directories. */
  readonly maxSpill: Bytes | null;
  readonly compression: SpillCompression;
  /** A file put beside each directory, as long as it is used: whose it is. */
  readonly label?: SpillLabel;
  /** Throws where a directory is there and not to be used: somebody else could write to it. */
  readonly check?: (directory: string) => void;
}

export interface SpillLabel {
  readonly name: string;
  readonly text: string;
}

export interface SpillBlock {
  readonly range: ArenaRange;
  /** crc32 of the raw bytes. */
  readonly checksum: number;
}

export interface SpillWritten {
  readonly places: readonly SpillPlace[];
  readonly seconds: number;
}

export interface SpillUsage {
  readonly directory: string;
  readonly files: number;
  readonly bytes: Bytes;
  /** Null where it cannot be told. */
  readonly free: Bytes | null;
}
