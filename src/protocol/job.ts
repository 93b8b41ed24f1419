/**
 * What the program asks the supervisor to run: a job of operators, each a recipe for tasks. Plain JSON. Large payloads
 * (functions with what they captured, rows) are blocks in the store, referred to by id.
 */
import type { ValueOptions } from "../arrow/index.ts";
import type { CsvProof } from "./csv-proof.ts";
import type { ComparedKeys } from "./join-keys.ts";
import type { JoinedFiles } from "./joined-files.ts";
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
 * A sealed block: an Arrow IPC stream of one record batch, or (a payload, rows 0) opaque bytes. Its place is not
 * included, because it may be spilled and come back elsewhere. A reader gets the range when it is about to read, pinned
 * until the read is over.
 */
export interface BlockRef {
  readonly id: BlockId;
  /** The bytes in use, without padding. */
  readonly length: Bytes;
  readonly rows: number;
}

/** Rows [start, end) of a block. */
export interface BlockSlice {
  readonly block: BlockRef;
  readonly start: number;
  readonly end: number;
}

/** The same for a reader: `range` is where the whole block is. */
export interface PlacedSlice {
  readonly range: ArenaRange;
  readonly start: number;
  readonly end: number;
}

export type TextEncoding = "utf-8" | "latin-1" | "windows-1252" | "utf-16le" | "utf-16be";

/** What happens to bytes that are invalid in the encoding: U+FFFD, or an error with file and line. */
export type BadBytes = "replace" | "refuse";

/**
 * UTF-8 text that a task's SQL reads from a pipe: a stretch of a file, or a file that the kernel cannot read by itself.
 */
export interface TextStream {
  /** The reader, for messages. */
  readonly operator: string;
  readonly path: string;
  /** Where it starts and ends in the file on disk. Both are ends of lines, or of the file. */
  readonly start: Bytes;
  readonly end: Bytes;
  readonly encoding: TextEncoding;
  readonly packing: "gzip" | "zstd" | null;
  readonly badBytes: BadBytes;
  /** `\r\n` becomes `\n`, and any other `\r` becomes `RETURN_MARK`, because the kernel would end a line there. */
  readonly marksReturns: boolean;
  /** A last line of this length is refused, because the kernel would leave it out. Absent: any length is right. */
  readonly refusedLine?: Bytes;
}

/** A file that the kernel unpacks while it reads. */
export interface PackedFile {
  readonly path: string;
  readonly packing: "gzip" | "zstd";
  /** As for streams. */
  readonly refusedLine?: Bytes;
}

/** No text contains these code points, because they are no characters. */
export const RETURN_MARK = "\u{10FFFF}\uFFFE\u{10FFFF}";

/** How whole files are read. */
export type FileContents = "text" | "binary";

/** What the SQL of a step reads by itself. */
export interface FilesRead {
  readonly files: readonly string[];
  readonly packed: readonly PackedFile[];
}

/** The input of a task that reads from outside its job. */
export type Split =
  /**
   * `sql` is used in the place of a table name: `read_parquet(…)`, `(SELECT …)`, `range(0, 10)`. `{stream}` in it is
   * the path of `stream`.
   */
  | {
      readonly kind: "sql";
      readonly sql: string;
      readonly files: readonly string[];
      readonly rows?: number;
      readonly stream?: TextStream;
      /** The task itself reads all of the files: `{contents}` in the SQL is a table of `filename` and `content`. */
      readonly contents?: FileContents;
      /** Files that must be checked for being complete before the task is done. */
      readonly packed?: readonly PackedFile[];
      /** What must be proved for a faster way to read the same rows. */
      readonly proof?: CsvProof;
      /** How all of the files can be read as one. */
      readonly joined?: JoinedFiles;
      /** The rows are few enough to be held in memory, and their columns may be very many. */
      readonly wide?: { readonly columns: number };
    }
  /** Arrow IPC files, read whole, in order. */
  | { readonly kind: "arrow"; readonly files: readonly string[] }
  /** Blocks that the program holds: items, a materialised dataset. */
  | { readonly kind: "blocks"; readonly slices: readonly BlockSlice[] };

export type OnError = "fail" | "skip" | { readonly deadLetter: string };

/** Columns that a function provably returns unchanged. They keep their types. */
export interface PassedColumns {
  /** Every column of the input that is not in `made` is returned under its own name (`...row`, or the row itself). */
  readonly rest: boolean;
  /** Output name to input name: `{ key: row.l_orderkey }`. */
  readonly columns: Readonly<Record<string, string>>;
  /** Output names that the function computes, or may compute. */
  readonly made: readonly string[];
}

/** The default number of concurrent calls of an async function. */
export const MAX_IN_FLIGHT = 16;

export interface FunctionOptions extends ValueOptions {
  readonly batchSize: number;
  readonly batchFormat: "columns" | "rows" | "arrow";
  /**
   * How many rows (map, flatMap, filter) or batches (mapBatches) of an async function are under way at once in one
   * worker.
   */
  readonly maxInFlight: number;
  readonly onError: OnError;
  /** Declared result columns, from name to SQL type. Other types are inferred. */
  readonly schema?: Readonly<Record<string, string>>;
  readonly passes?: PassedColumns;
  /** filter: the columns that it can read, if that is known. */
  readonly reads?: readonly string[];
  /** What the operators above do with the names of the columns that it makes. */
  readonly uses?: readonly NameUse[];
  /** The operator's tasks are profiled. */
  readonly profile?: true;
  /** mapGroups: the rows come sorted by these keys, and each call gets the rows of one combination of them. */
  readonly keys?: readonly string[];
  /** mapGroups: a call gets its group as an async iterable of batches, so that a group may be larger than memory. */
  readonly stream?: boolean;
}

export interface SqlStep {
  readonly kind: "sql";
  readonly operator: string;
  readonly sql: string;
  /** The step makes fewer rows than it gets, the fewer the more it gets at once. */
  readonly shrinks?: boolean;
  /** In a task's first step: lists of columns that are still marks in the SQL, inner ones first. */
  readonly unnamed?: readonly UnnamedColumns[];
  /** In a task's first step: keys whose types are checked before it runs. */
  readonly compared?: readonly ComparedKeys[];
  /** In a task's first step: the tables of each of its unions, which must have the same columns. */
  readonly united?: readonly (readonly string[])[];
}

export type Step =
  /** Row-wise SQL (no aggregate, no order): `{input}` stands for the table. May run once for each batch of rows. */
  | SqlStep
  | {
      readonly kind: "function";
      /** The name shown: `map(addTax)`, `mapBatches(Model)`. */
      readonly operator: string;
      readonly form: "map" | "flatMap" | "filter" | "mapBatches" | "mapGroups";
      /**
       * A class is constructed once in each worker, with the arguments in the payload; the `call` of the instance is
       * used.
       */
      readonly isClass: boolean;
      readonly payload: BlockRef;
      readonly options: FunctionOptions;
    };

/** The entry of a Parquet file with the sizes of its fixed-size lists: `{"v":768}`. */
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
  /** How many bytes of rows, as Arrow, a task holds before it writes them to a file. */
  readonly heldBytes: Bytes;
}

/** Rows become blocks of the store. */
export interface BlockShape {
  readonly kind: "blocks";
  /**
   * Rows go to this many partitions. The column `PARTITION` has the partition's number, and is left out of the blocks.
   */
  readonly scatter?: number;
  /** No block is larger, unless it is a single row. */
  readonly targetBytes: Bytes;
  /** Smaller neighbouring blocks are combined; false: every batch becomes a block, or several. */
  readonly minBytes: Bytes | false;
  /**
   * A limit above takes this many rows: the first block has as many, and each later one twice as many as the previous
   * one.
   */
  readonly firstRows?: number;
}

export type Sink =
  | BlockShape
  /** Only the number of rows is kept. */
  | { readonly kind: "count" }
  | FileSink;

export type OperatorId = number;

/** The column that says which partition a row goes to, from 0. */
export const PARTITION = "__spillway_partition";

/** What SQL does with the columns of a table. It hands on all others unchanged. */
export interface SeenColumns {
  /** Columns whose values it reads. */
  readonly read: readonly string[];
  /** Columns of which it asks which values are equal; null: all columns. */
  readonly matched: readonly string[] | null;
  /** Columns of which it asks for the order of their values. */
  readonly ordered: readonly string[];
}

/** A table of a fed task: `{t0}` in its SQL is the first of the operator's tables. */
export interface FedTable {
  readonly operators: readonly OperatorId[];
  /**
   * Its columns if no block comes. A null type: the type that the kernel gives to a column that contains only nulls.
   */
  readonly columns: readonly { readonly name: string; readonly type: string | null }[];
  /** The SQL depends on the order of the rows (a zip, a shuffle): blocks are fed in plan order. */
  readonly ordered?: boolean;
  /** What the SQL does with its columns. Absent: it may look at all. */
  readonly sees?: SeenColumns;
}

/** How much of the partitions of an exchange one task takes. */
export interface PartitionSizes {
  /** What one task takes well. */
  readonly target: Bytes;
  /** Tasks that there should be in any case, if there is anything for them. */
  readonly atLeast: number;
}

/** Which rows of a fed operator's tables are gathered in one task. */
export type Gather =
  /** All rows: one task, fed while its producers run. */
  | { readonly kind: "all" }
  /**
   * All rows: one task, started when all producers have ended, so that no worker waits with it. Without blocks there is
   * no task.
   */
  | { readonly kind: "whole" }
  /**
   * The rows of partitions, when all producers have ended: neighbours together, as far as their bytes allow; without
   * `together` a task for each partition.
   */
  | { readonly kind: "partitions"; readonly count: number; readonly together?: PartitionSizes }
  /** Equal stretches in plan order, this many or each with this many rows; one table, and no SQL over it. */
  | { readonly kind: "parts"; readonly count: number }
  | { readonly kind: "rows"; readonly rows: number };

/**
 * What one task of an operator needs while it runs: cores and GPUs (fractions are allowed), and memory of its worker.
 */
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
     * Blocks come one after another while the task runs. If the first step is SQL, they become tables, and the step
     * runs once all are there, over `{t0}`, `{t1}`, …; otherwise they go through the steps as they come.
     */
    | {
        readonly kind: "fed";
        readonly tables: readonly FedTable[];
        readonly gather: Gather;
        readonly reads?: FilesRead;
      };
  /**
   * The program can plan it in another way. "spare": only if the wide kernel runs out of memory. "first": at once,
   * because the kernel did so in an earlier run.
   */
  readonly otherWay?: "spare" | "first";
  /** "wide": in the wide kernel, with all threads. Its output becomes visible when it is complete. */
  readonly place: "worker" | "wide";
  /** Operators whose whole (small) output every task gets as tables: `{b0}`, `{b1}`, … in its first SQL step. */
  readonly broadcast: readonly FedTable[];
  /** The operator's rows have an order that the operators above keep: a sort. */
  readonly setsOrder: boolean;
  readonly steps: readonly Step[];
  readonly sink: Sink;
  readonly request: ResourceRequest;
  /** How many tasks of this operator run at once. */
  readonly concurrency: { readonly min: number; readonly max: number };
  /** Input blocks are bundled into one task until they have this many rows (1: a task per block). */
  readonly minRowsPerTask: number;
  /** A task never needs to hand over more rows than this (because of a limit above); null: no limit. */
  readonly maxRowsPerTask: number | null;
  /** How often a task is run again after its worker crashed. */
  readonly maxRetries: number;
  /** How often a task that ran out of memory is run again, each time with a smaller demand. */
  readonly maxOomRetries: number;
  /** What an earlier run learned. */
  readonly learned: LearnedNeed | null;
  /** What a task took in an earlier run; null: unknown. */
  readonly appetite: Bytes | null;
  /** What planning left out of the read; explain and stats show it. */
  readonly skipped: Skipped;
}

/**
 * The part of an operator that its tasks need, whatever they read. It is sent once to each worker that runs one of the
 * tasks.
 */
export type WorkerOperator = Pick<
  TaskOperator,
  "id" | "name" | "steps" | "sink" | "maxRowsPerTask" | "setsOrder" | "broadcast" | "otherWay"
>;

/** Rows [offset, offset + limit) of its inputs in plan order. Stops its producers as soon as it is satisfied. */
export interface SliceOperator {
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
  /** Inputs precede their users; the output of the last one is the job's. */
  readonly operators: readonly Operator[];
  /** Deliver output blocks in plan order (task by task), instead of as they come. */
  readonly preserveOrder: boolean;
  /** How many tasks may fail by the user's own errors before the job fails. Their remaining rows are dropped. */
  readonly maxErroredBlocks: number;
  /** Payloads and input blocks that the job uses. It holds a reference to each until it ends. */
  readonly holds: readonly BlockId[];
}
