/**
 * What a plan reads from. A source gets its name when the plan is built. It is opened when first needed (files are
 * listed and the schema is read, once each), and cut into splits when the plan knows what it needs.
 */
import type { Bytes, PackedFile, Skipped, Split } from "../protocol/index.ts";
import type { Expression } from "./expression/index.ts";

/** A column and its type in SQL's spelling. */
export interface Column {
  readonly name: string;
  readonly type: string;
}

export interface Source {
  /** The operator as it is shown: `readParquet`. */
  readonly name: string;
  /** What it reads, for explain: paths, or a number of rows. */
  readonly label: string;
  /** Its rows have an order that the operators above keep; false by default. */
  readonly ordered?: boolean;
  open(): Promise<OpenSource>;
  /** The files that it would read now. Absent: it reads no files. */
  files?(): Promise<readonly string[]>;
  /** The same source for one call. Absent: nothing is read before the job runs. */
  during?(call: SourceCall): Source;
  /** The same source opened anew, so that changes since then are seen. Absent: nothing can change. */
  again?(): Source;
}

/** A call for which a source is read. */
export interface SourceCall {
  /** Rows may be read for this call. */
  readonly reads: boolean;
  /** Throws once the call has been cancelled. */
  check(): void;
}

export const whateverItTakes: SourceCall = { reads: true, check() {} };

export interface OpenSource {
  /** Null: only the blocks themselves tell. */
  readonly columns: readonly Column[] | null;
  /** Columns with one value per file (hive partitions). Filters on them alone leave out whole files. */
  readonly partitionColumns: readonly string[];
  /** Leaving out columns saves work, because they are in files and are read by SQL. */
  readonly prunes: boolean;
  /** Rows are identified by their place, so a sample can be taken while reading. */
  readonly samples: boolean;
  /** The exact number of rows from metadata alone; null if rows must be read to count them. */
  countRows(): Promise<number | null>;
  splits(request: ScanRequest): Promise<ScanSplits>;
  /** All that is asked for as one table, for a kernel with all threads; null or absent: only splits can be read. */
  whole?(request: ScanRequest): Promise<WholeScan | NoRows | null>;
  /** About how many bytes its rows take in memory; null or absent: unknown. */
  readonly bytes?: Bytes | null;
  /** Cuts a read of everything at the ends of its splits, so that it can be read in stretches. */
  cut(): Promise<SourceCut>;
}

export interface WholeScan {
  /** Used in the place of a table name. Columns, types and rows are those of the splits. */
  readonly sql: string;
  /** Named in errors; absent: it reads no files. */
  readonly files?: readonly string[];
  /** The files that must be checked for being complete. */
  readonly packed?: readonly PackedFile[];
  /** The most rows that are read, before any condition; absent: unknown. */
  readonly rows?: number;
  /** Tasks over the splits read the same rows in less time, if few rows come out of them. */
  readonly splitsAreFaster?: boolean;
  readonly skipped: Skipped;
  readonly notes: readonly string[];
}

/** There is nothing to read. */
export interface NoRows {
  readonly sql: null;
  readonly skipped: Skipped;
  readonly notes: readonly string[];
}

/** A read of everything as its splits, in order: their sizes, and a source with only the splits [from, to). */
export interface SourceCut {
  readonly sizes: readonly Bytes[];
  stretch(from: number, to: number): OpenSource;
}

export interface ScanRequest {
  /** Columns that are read at all, including those of filters; null: all. */
  readonly columns: readonly string[] | null;
  /**
   * Conditions that the plan applies to every row. Sources may leave out rows that cannot satisfy them, and do nothing
   * more.
   */
  readonly filters: readonly Expression[];
  /** Samples to take, by each row's place in the source. */
  readonly samples: readonly RowSample[];
  /** The most rows that are needed, counted before filters; null: all. */
  readonly limit: number | null;
  /**
   * When the call began, by `performance.now()`. Files that were examined later need no second look to know that they
   * are the same; absent: all files get one.
   */
  readonly since?: number;
}

/** Keeps a row if its hash, salted with the seed, is below the fraction. */
export interface RowSample {
  readonly fraction: number;
  readonly seed: number;
}

/** Splits that are not SQL, and the select list that turns their contents into the source's columns. */
export interface ScanPart {
  readonly splits: readonly Split[];
  readonly list: string;
}

export interface ScanSplits {
  readonly splits: readonly Split[];
  /** Instead of `splits`, if they need different select lists. */
  readonly parts?: readonly ScanPart[];
  /**
   * The splits are blocks in the store, cut as suits the session: functions may have them combined to whole batches.
   */
  readonly mayMerge?: boolean;
  readonly skipped: Skipped;
  /** What was left out and why, one line each, for explain. */
  readonly notes: readonly string[];
}

export const nothingSkipped: Skipped = Object.freeze({ files: 0, rowGroups: 0, rows: 0, columns: 0 });
