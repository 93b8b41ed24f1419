/** The settings and results of spill files: plain data, no behaviour. */
import type { ArenaRange, Bytes } from "../../protocol/index.ts";
import type { SpillPlace } from "../place.ts";

export type { SpillPlace };
export type SpillCompression = "none" | "lz4" | "zstd" | "auto";

export interface SpillSettings {
  readonly arenaPath: string;
  /** Made when first needed. Files are spread over them in turns. */
  readonly directories: readonly string[];
  /** The most bytes in spill files, over all directories. */
  readonly maxSpill: Bytes | null;
  readonly compression: SpillCompression;
  /** A file put beside each directory while it is in use. It says whose the directory is. */
  readonly label?: SpillLabel;
  /** Throws if the directory exists and must not be used, because another user could write to it. */
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
  /** Null: unknown. */
  readonly free: Bytes | null;
}
