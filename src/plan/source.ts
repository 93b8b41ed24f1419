/**
 * What a plan reads from. A source is named when the plan is built, opened when it is first needed (files listed,
 * schema asked for, both once), and cut into splits when the plan says what it needs of it.
 */
import type { Bytes, PackedFile, Skipped, Split } from "../protocol/index.ts";
import type { Expression } from "./expression/index.ts";

/** A column and its type as SQL spells it. */
export interface Column {
  readonly name: string;
  readonly type: string;
}

export interface Source {
  /** The operator shown: `readParquet`. */
  readonly name: string;
  /** What it reads, for explain: paths, a number of rows. */
  readonly label: string;
  /** Its rows have an order that whoever comes after keeps; false by default. */
  readonly ordered?: boolean;
  open(): Promise<OpenSource>;
  /** The files that it would read now. Absent where it reads none. */
  files?(): Promise<readonly string[]>;
  /** The same source for one call. Absent where nothing is read before the job runs. */
  during?(call: SourceCall): Source;
  /** The same source looked at anew, so that what has changed since is seen. Absent where nothing can change. */
  again?(): Source;
}

/** A call for which a source is read. */
export interface SourceCall {
  /** Rows may be read for it. */
  readonly reads: boolean;
  /** Throws once it has been cancelled. */
  check(): void;
}

export const whateverItTakes: SourceCall = { reads: true, check() {} };

export interface OpenSource {
  /** Null where only the blocks themselves know. */
  readonly columns: readonly Column[] | null;
  /** Columns with one value per file (hive partitions): filters on them alone leave out whole files. */
  readonly partitionColumns: readonly string[];
  /** Leaving out columns saves work: they lie in files and come through SQL. */
  readonly prunes: boolean;
  /** Rows can be told apart by their place, so a sample can be taken while reading. */
  readonly samples: boolean;
  /** Exact number of rows by metadata alone; null where rows must be read to be counted. */
  countRows(): Promise<number | null>;
  splits(request: ScanRequest): Promise<ScanSplits>;
  /** All that is asked for as one table, for a kernel with all threads; null or absent: only splits can be read. */
  whole?(request: ScanRequest): Promise<WholeScan | null>;
  /** About how many bytes its rows are in memory; null or absent: not known. */
  readonly bytes?: Bytes | null;
  /** Cuts a read of everything where its splits end, so that it can be read a stretch at a time. */
  cut(): Promise<SourceCut>;
}

export interface WholeScan {
  /** Stands where a table stands; columns, types and rows are those of the splits. */
  readonly sql: string;
  /** Named in errors; absent: it reads none. */
  readonly files?: readonly string[];
  /** Those of them that have to be found whole. */
  readonly packed?: readonly PackedFile[];
  /** Read at most, before any condition; absent: not looked at. */
  readonly rows?: number;
  /** Tasks over the splits read the same in less time, where few rows come out of them. */
  readonly splitsAreFaster?: boolean;
  readonly skipped: Skipped;
  readonly notes: readonly string[];
}

/** A read of everything as its splits, in order: their sizes, and a source of the splits [from, to) alone. */
export interface SourceCut {
  readonly sizes: readonly Bytes[];
  stretch(from: number, to: number): OpenSource;
}

export interface ScanRequest {
  /** Columns that are read at all, filters included; null: all. */
  readonly columns: readonly string[] | null;
  /** Conditions that the plan applies to every row. Sources leave out what cannot satisfy them, nothing more. */
  readonly filters: readonly Expression[];
  /** Samples to take of each row, by its place in the source. */
  readonly samples: readonly RowSample[];
  /** No more rows than this are needed, counted before filters; null: all. */
  readonly limit: number | null;
}

/** Keeps a row where its hash, salted with the seed, falls below the fraction. */
export interface RowSample {
  readonly fraction: number;
  readonly seed: number;
}

/** Splits that are no SQL themselves, and the select list that makes the source's columns of what they hold. */
export interface ScanPart {
  readonly splits: readonly Split[];
  readonly list: string;
}

export interface ScanSplits {
  readonly splits: readonly Split[];
  /** Instead of `splits`, where they need different select lists. */
  readonly parts?: readonly ScanPart[];
  /** Blocks in the store, cut as it suits the session: functions may have them put together to whole batches. */
  readonly mayMerge?: boolean;
  readonly skipped: Skipped;
  /** What was left out and why, a line each, for explain. */
  readonly notes: readonly string[];
}

export const nothingSkipped: Skipped = Object.freeze({ files: 0, rowGroups: 0, rows: 0, columns: 0 });
