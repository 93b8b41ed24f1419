/**
 * What the program asks the supervisor to run: a job of operators, each a recipe for tasks. Plain JSON; big payloads
 * (functions with what they captured, rows) are blocks in the store, named by reference.
 */
import type { ValueOptions } from "../arrow/index.ts";
import type { CsvProof } from "./csv-proof.ts";
import type { ComparedKeys } from "./join-keys.ts";
import type { LearnedNeed } from "./memory.ts";
import type { NameUse } from "./name-uses.ts";
import type { UnnamedColumns } from "./side-by-side.ts";

export type BlockId = number & { readonly __brand: "BlockId" };
export type JobId = string & { readonly __brand: "JobId" };
export type TaskId = string & { readonly __brand: "TaskId" };
export type WorkerId = number & { readonly __brand: "WorkerId" };
export type Bytes = number;
export type Milliseconds = number;

/** A stretch of the arena. */
export interface ArenaRange {
  readonly offset: Bytes;
  readonly length: Bytes;
}

/**
 * A sealed block: an Arrow IPC stream of one record batch, or (rows 0, a payload) opaque bytes. Where it lies is not
 * part of it: it may go to disk and come back elsewhere. Who is to read it is told the range, pinned until it is read.
 */
export interface BlockRef {
  readonly id: BlockId;
  /** Exactly the bytes in use. */
  readonly length: Bytes;
  readonly rows: number;
}

/** Rows [start, end) of a block. */
export interface BlockSlice {
  readonly block: BlockRef;
  readonly start: number;
  readonly end: number;
}

/** The same for who reads it: `range` is where the whole block lies. */
export interface PlacedSlice {
  readonly range: ArenaRange;
  readonly start: number;
  readonly end: number;
}

export type TextEncoding = "utf-8" | "latin-1" | "windows-1252" | "utf-16le" | "utf-16be";

/** What becomes of bytes that are no text in the encoding: U+FFFD, or an error with file and line. */
export type BadBytes = "replace" | "refuse";

/**
 * Text that a task's SQL reads from a pipe, in UTF-8: a stretch of a file, or a file that the kernel cannot read as it
 * is.
 */
export interface TextStream {
  readonly path: string;
  /** Where it begins and ends in the file as it lies on disk; both are ends of lines, or of the file. */
  readonly start: Bytes;
  readonly end: Bytes;
  readonly encoding: TextEncoding;
  readonly packing: "gzip" | "zstd" | null;
  readonly badBytes: BadBytes;
  /** `\r\n` comes out as `\n`, and any other `\r` as `RETURN_MARK`: the kernel would end a line there. */
  readonly marksReturns: boolean;
}

/** A file that the kernel unpacks while it reads it. */
export interface PackedFile {
  readonly path: string;
  readonly packing: "gzip" | "zstd";
}

/** No text has these characters: they are none. */
export const RETURN_MARK = "\u{10FFFF}\uFFFE\u{10FFFF}";

/** What whole files are read as. */
export type FileContents = "text" | "binary";

/** What the SQL of a step reads by itself. */
export interface FilesRead {
  readonly files: readonly string[];
  readonly packed: readonly PackedFile[];
}

/** The input of one task that reads from outside. */
export type Split =
  /**
   * `sql` stands where a table stands: `read_parquet(…)`, `(SELECT …)`, `range(0, 10)`; `{stream}` in it is the path of
   * `stream`.
   */
  | {
      readonly kind: "sql";
      readonly sql: string;
      readonly files: readonly string[];
      readonly rows?: number;
      readonly stream?: TextStream;
      /** The task reads all of the files itself: `{contents}` in the SQL is a table of `filename` and `content`. */
      readonly contents?: FileContents;
      /** Those of the files that have to be found whole before the task is done. */
      readonly packed?: readonly PackedFile[];
      /** What makes another way to read the same rows right, which is faster. */
      readonly proof?: CsvProof;
    }
  /** Arrow IPC files, read whole, in order. */
  | { readonly kind: "arrow"; readonly files: readonly string[] }
  /** Blocks that the program holds: items, a materialised dataset. */
  | { readonly kind: "blocks"; readonly slices: readonly BlockSlice[] };

export type OnError = "fail" | "skip" | { readonly deadLetter: string };

/** Columns that a function provably returns as they came: these keep their types. */
export interface PassedColumns {
  /** Every column of the input that is not in `made` is returned under its own name (`...row`, or the row itself). */
  readonly rest: boolean;
  /** Output name to input name: `{ key: row.l_orderkey }`. */
  readonly columns: Readonly<Record<string, string>>;
  /** Output names that are made anew, or may be. */
  readonly made: readonly string[];
}

/** Of calls of an async function, where nothing is said. */
export const MAX_IN_FLIGHT = 16;

export interface FunctionOptions extends ValueOptions {
  readonly batchSize: number;
  readonly batchFormat: "columns" | "rows" | "arrow";
  /** Rows (map, flatMap, filter) or batches (mapBatches) of an async function under way at once in one worker. */
  readonly maxInFlight: number;
  readonly onError: OnError;
  /** Declared result columns: name to SQL type; what is not declared is inferred. */
  readonly schema?: Readonly<Record<string, string>>;
  readonly passes?: PassedColumns;
  /** filter: the columns that it can read, where that is known. */
  readonly reads?: readonly string[];
  /** What the operators after it do with the names of the columns that it makes. */
  readonly uses?: readonly NameUse[];
  /** mapGroups: the rows come sorted by these, and each call gets the rows of one combination of them. */
  readonly keys?: readonly string[];
  /** mapGroups: a call gets its group as an async iterable of batches, so that a group may be larger than memory. */
  readonly stream?: boolean;
}

export interface SqlStep {
  readonly kind: "sql";
  readonly operator: string;
  readonly sql: string;
  /** It makes fewer rows of many, the fewer the more it gets at once. */
  readonly shrinks?: boolean;
  /** Of a task's first step: lists of columns that stand as marks in the SQL, inner ones first. */
  readonly unnamed?: readonly UnnamedColumns[];
  /** Of a task's first step: keys whose types are looked at before it runs. */
  readonly compared?: readonly ComparedKeys[];
  /** Of a task's first step: the tables of each of its unions, which must have the same columns. */
  readonly united?: readonly (readonly string[])[];
}

export type Step =
  /** Row-wise SQL (no aggregate, no order): `{input}` stands for the table. May run once per batch of rows. */
  | SqlStep
  | {
      readonly kind: "function";
      /** The name shown: `map(addTax)`, `mapBatches(Model)`. */
      readonly operator: string;
      readonly form: "map" | "flatMap" | "filter" | "mapBatches" | "mapGroups";
      /** A class is constructed once in a worker with the arguments in the payload; its instance's `call` is used. */
      readonly isClass: boolean;
      readonly payload: BlockRef;
      readonly options: FunctionOptions;
    };

/** The entry of a Parquet file that says how long the lists of its columns are, where all of them are: `{"v":768}`. */
export const LIST_SIZES = "spillway:lists";

export type FileFormat = "parquet" | "csv" | "json" | "arrow";

export interface FileSink {
  readonly kind: "files";
  readonly format: FileFormat;
  /** Where tasks write; the supervisor moves the files to `directory` when the job is complete. */
  readonly staging: string;
  readonly directory: string;
  readonly mode: "error" | "overwrite" | "append";
  readonly partitionBy: readonly string[];
  readonly maxRowsPerFile: number | null;
  readonly targetFileSize: Bytes | null;
  readonly compression: string | null;
  /** What a task holds of its rows, as Arrow, before it writes them to a file. */
  readonly heldBytes: Bytes;
}

/** Rows become blocks of the store. */
export interface BlockShape {
  readonly kind: "blocks";
  /** Rows go to so many partitions, by their number in the column `PARTITION`, which is left out of the blocks. */
  readonly scatter?: number;
  /** No block is larger, unless it is one row. */
  readonly targetBytes: Bytes;
  /** Smaller neighbours are put together; false: every batch that comes is a block, or several. */
  readonly minBytes: Bytes | false;
  /** A limit further on takes so many rows: as many are a block at first, then twice as many each time. */
  readonly firstRows?: number;
}

export type Sink =
  | BlockShape
  /** Nothing is kept but the number of rows. */
  | { readonly kind: "count" }
  | FileSink;

export type OperatorId = number;

/** The column that says which partition a row goes to, from 0. */
export const PARTITION = "__spillway_partition";

/** A table of a fed task: `{t0}` in its SQL is the first of the operator's tables. */
export interface FedTable {
  readonly operators: readonly OperatorId[];
  /** What it holds if no block comes. A null type: whatever the kernel makes of nothing but nulls. */
  readonly columns: readonly { readonly name: string; readonly type: string | null }[];
  /** The SQL goes by the place of its rows (a zip, a shuffle): blocks are fed in plan order. */
  readonly ordered?: boolean;
}

/** Which rows of a fed operator's tables meet in one task. */
export type Gather =
  /** All: one task, fed while its producers run. */
  | { readonly kind: "all" }
  /** All: one task, once all producers have ended, so that no worker waits with it; none where there are no blocks. */
  | { readonly kind: "whole" }
  /** Those of a partition: a task for each, once all producers have ended. */
  | { readonly kind: "partitions"; readonly count: number }
  /** Equal stretches in plan order, so many, or each of so many rows; one table, and no SQL over it. */
  | { readonly kind: "parts"; readonly count: number }
  | { readonly kind: "rows"; readonly rows: number };

/** What one task of an operator needs while it runs: cores and GPUs, also parts of them, and memory of its worker. */
export interface ResourceRequest {
  readonly cpu: number;
  readonly gpu: number;
  readonly memory: Bytes;
}

export interface TaskOperator {
  readonly kind: "tasks";
  readonly id: OperatorId;
  /** `readParquet->filter->map` */
  readonly name: string;
  readonly input:
    | { readonly kind: "splits"; readonly splits: readonly Split[] }
    | { readonly kind: "operators"; readonly operators: readonly OperatorId[] }
    /**
     * Blocks come one after another while the task runs. Where the first step is SQL they become tables first and it
     * runs once all are there, over `{t0}`, `{t1}`, …; else they go through the steps as they come.
     */
    | {
        readonly kind: "fed";
        readonly tables: readonly FedTable[];
        readonly gather: Gather;
        readonly reads?: FilesRead;
      };
  /** "wide": in the wide kernel, with all threads; its output is seen when it is complete. */
  readonly place: "worker" | "wide";
  /** Operators whose whole output every task has as tables, `{b0}`, `{b1}`, … in its first SQL step; small. */
  readonly broadcast: readonly FedTable[];
  /** Its rows have an order that whoever comes after keeps: a sort. */
  readonly setsOrder: boolean;
  readonly steps: readonly Step[];
  readonly sink: Sink;
  readonly request: ResourceRequest;
  /** Tasks of this operator at once. */
  readonly concurrency: { readonly min: number; readonly max: number };
  /** Input blocks are bundled into one task until they hold this many rows (1: a task per block). */
  readonly minRowsPerTask: number;
  /** A task never needs to hand over more rows than this (a limit above it); null: all. */
  readonly maxRowsPerTask: number | null;
  /** How often a task is run again after its worker crashed. */
  readonly maxRetries: number;
  /** How often a task is run again, each time asking for less, after it ran out of memory. */
  readonly maxOomRetries: number;
  /** What a run before this one found. */
  readonly learned: LearnedNeed | null;
  /** What planning left out of the read, for explain and stats. */
  readonly skipped: Skipped;
}

/** Rows [offset, offset + limit) of its inputs in plan order; stops what feeds it as soon as it is satisfied. */
interface SliceOperator {
  readonly kind: "slice";
  readonly id: OperatorId;
  readonly name: string;
  readonly input: { readonly kind: "operators"; readonly operators: readonly OperatorId[] };
  readonly offset: number;
  readonly limit: number | null;
}

export type Operator = TaskOperator | SliceOperator;

export interface Skipped {
  readonly files: number;
  readonly rowGroups: number;
  readonly rows: number;
  readonly columns: number;
}

export interface JobSpec {
  readonly id: JobId;
  /** Inputs before users; the last one's output is the job's. */
  readonly operators: readonly Operator[];
  /** Deliver output blocks in plan order (task by task), or as they come. */
  readonly preserveOrder: boolean;
  /** Tasks that may fail by the user's own error before the job does; their remaining rows are dropped. */
  readonly maxErroredBlocks: number;
  /** Payloads and input blocks the job uses: it holds a reference to each until it ends. */
  readonly holds: readonly BlockId[];
}
