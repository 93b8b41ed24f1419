/**
 * Small files that a worker joins into one file before its kernel reads them, because opening a file takes the kernel
 * longer than reading a few rows.
 */
import type { Milliseconds } from "./job.ts";

export type JoinedFiles = JoinedFormat & {
  /** When the call began, by the system's clock: what a worker has read of the files since then is new enough. */
  readonly since?: Milliseconds;
  /** Instead of the ordinary SQL, where the files can be joined; `{joined}` in it is the one file's path. */
  readonly sql: string;
};

export type JoinedFormat =
  | { readonly kind: "parquet" | "json" }
  /** `header`: the first line of every file names its columns. `quote` is empty if nothing is quoted. */
  | { readonly kind: "csv"; readonly header: boolean; readonly quote: string };

/** A faster way to answer a question about files. The question's SQL is used when the faster way cannot answer. */
export type QuickQuestion =
  /** The joined file gives the same answer as the files. */
  | (JoinedFiles & { readonly files: readonly string[] })
  /**
   * Asks for the footers of Parquet files, one row per file. `like` is the position of the first file with the same
   * schema; `rows` and `bytes` are lists with one value per row group.
   */
  | { readonly kind: "footers"; readonly files: readonly string[] };
