/**
 * Files that the kernel reads by SQL: CSV, JSON, text, binary. A split is a file, a part of one, or a bundle of small
 * ones. Formats differ only in how their columns are found, where files can be cut, and which table function reads
 * them.
 */
import { quoteIdentifier, quoteText } from "../../arrow/index.ts";
import {
  type Column,
  type NoRows,
  nothingSkipped,
  type OpenSource,
  type ScanRequest,
  type ScanSplits,
  type Source,
  type SourceCut,
  type WholeScan,
} from "../../plan/index.ts";
import {
  type Bytes,
  CONTENTS,
  type CsvProof,
  type FileContents,
  type JoinedFiles,
  type PackedFile,
  type Split,
  STREAM_PATH,
  type TextStream,
} from "../../protocol/index.ts";
import { placeSampleSql } from "../../stages/index.ts";
import { cutPoints } from "../../text/index.ts";
import type { Engine } from "../engine.ts";
import { fileSource } from "./file-source.ts";
import { bytesOf, checkUnchanged, listFiles, type SourceFile } from "./files.ts";
import { inSourceWords } from "./kernel-words.ts";
import { type CheckedReadOptions, ofStretch } from "./options.ts";
import {
  findPartitions,
  haveSameValues,
  type PartitionedFile,
  type Partitions,
  partitionItems,
  prunePartitions,
} from "./partitions.ts";
import { areForTasks, areHeldTogether, readSince } from "./small-files.ts";
import { bundled, taskCount } from "./splitting.ts";

/** How one format is read. With `includePaths`, its table has a column `path`. */
export interface SqlFormat {
  readonly operator: string;
  /** Rows that do not fit a column are skipped, so the set of rows depends on all columns. */
  readonly leavesOutRows: boolean;
  /**
   * Finds the columns by looking at the files. Partition columns (whose names are given) and `path` are not included.
   */
  columns(files: readonly SourceFile[], partitioned: readonly string[]): Promise<readonly Column[]>;
  /**
   * SQL that reads files into those columns, or into the needed ones, and `path` if asked for. `proved`: what `proof`
   * claims about the files is true.
   */
  tableSql(
    files: readonly SourceFile[],
    columns: readonly Column[],
    includePaths: boolean,
    slot: TaskSlot,
    proved: boolean,
  ): string;
  /** What must be true of the files for a faster read; null if no proof would help. Absent: no proof ever helps. */
  proof?(files: readonly SourceFile[], columns: readonly Column[]): Omit<CsvProof, "sql"> | null;
  /** Whether `tableSql` reads this file, or part of one, as a stream. */
  isStream(file: SourceFile): boolean;
  /** How the kernel unpacks the file; absent: files are never packed. */
  packing?(file: SourceFile): PackedFile["packing"] | null;
  /** A last line of this length is refused (`csv-lines.ts`). Absent: the format has no lines. */
  refusedLine?(file: SourceFile): Bytes;
  /** The table can be made from the contents of whole files, in a slot that holds them. Then no file is a stream. */
  readonly takesContents?: boolean;
  /** How all of the files are read as one; its SQL is a table. Null: they cannot be. Absent: never. */
  joined?(files: readonly SourceFile[], columns: readonly Column[]): JoinedFiles | null;
  /** Where rows begin soon after these places of a file: what may be read by tasks of their own. Absent: nowhere. */
  cuts?(file: SourceFile, points: readonly Bytes[]): Promise<readonly Bytes[]>;
}

/**
 * What a split's SQL reads through its task: one stream, or the contents of all its files. One stream at most: streams
 * are written one after another, and the kernel may ask for the last one first.
 */
export class TaskSlot {
  stream: TextStream | null = null;
  contents: FileContents | null = null;

  /** `holdsContents`: the task may read the files itself, and hold all of their contents. */
  constructor(readonly holdsContents: boolean) {}

  /** Returns the SQL for the table of all files. */
  takeContents(contents: FileContents): string {
    this.contents = contents;
    return CONTENTS;
  }

  /** Returns the SQL for the path of the stream. */
  take(stream: TextStream): string {
    if (this.stream !== null) throw new Error(`${stream.path}: a split reads one stream, and has ${this.stream.path}`);
    this.stream = stream;
    return STREAM_PATH;
  }
}

/** The time that opening a file takes, as the number of bytes that could be read in it. */
const OPENING: Bytes = 16 * 1024;
/** From this size on, tasks that prove what they read are faster than a kernel with all threads that does not. */
const WORTH_SPLITTING: Bytes = 64 * 2 ** 20;
/** Below this size a part of a file costs more than it saves. */
const SMALLEST_PART: Bytes = 8 * 2 ** 20;

export function sqlFileSource(
  engine: Engine,
  paths: readonly string[],
  format: SqlFormat,
  options: CheckedReadOptions,
): Source {
  return fileSource(format.operator, paths, () => open(engine, paths, format, options));
}

async function open(
  engine: Engine,
  paths: readonly string[],
  format: SqlFormat,
  options: CheckedReadOptions,
): Promise<OpenSource> {
  const listed = await listFiles(paths, format.operator);
  const partitions = findPartitions(listed, options.schema, format.operator);
  const { files } = listed;
  const own = await inSourceWords(format.operator, files, () =>
    format.columns(
      files,
      partitions.columns.map(({ name }) => name),
    ),
  );
  return new SqlFileReader(engine, format, options, partitions, own);
}

class SqlFileReader implements OpenSource {
  readonly columns: readonly Column[];
  readonly partitionColumns: readonly string[];
  readonly prunes = true;
  readonly samples = true;
  readonly bytes: Bytes;
  /** The files' own columns. */
  readonly #kept: readonly Column[];

  constructor(
    private readonly engine: Engine,
    private readonly format: SqlFormat,
    private readonly options: CheckedReadOptions,
    private readonly partitions: Partitions,
    private readonly own: readonly Column[],
  ) {
    const partitioned = new Set(partitions.columns.map(({ name }) => name));
    // If a column is both in the file and in a folder's name, the folder's value counts.
    const kept = own.filter(({ name }) => !partitioned.has(name));
    const path = options.includePaths ? [{ name: "path", type: "VARCHAR" }] : [];
    this.#kept = kept;
    this.columns = [...kept, ...path, ...partitions.columns];
    this.partitionColumns = partitions.columns.map(({ name }) => name);
    this.bytes = bytesOf(partitions.files);
  }

  async countRows(): Promise<null> {
    return null;
  }

  async splits(request: ScanRequest): Promise<ScanSplits> {
    // All files are empty: there are no columns and no rows.
    if (this.columns.length === 0) return { splits: [], skipped: nothingSkipped, notes: [] };
    const files = await prunePartitions(this.partitions, request.filters, this.engine);
    this.#check(files, request);
    const bundles = await this.#bundles(files);
    return { splits: bundles.map((bundle) => this.#split(bundle, request)), ...this.#report(files, request) };
  }

  async whole(request: ScanRequest): Promise<WholeScan | NoRows | null> {
    if (this.columns.length === 0) return null;
    const files = await prunePartitions(this.partitions, request.filters, this.engine);
    if (files.length === 0) return { sql: null, ...this.#report(files, request) };
    if (files.some((file) => this.format.isStream(file))) return null;
    if (areForTasks(files) && (this.#takesContents(files) || this.#joined(files, request).joined !== undefined))
      return null;
    this.#check(files, request);
    const sql = this.#sql(files, request, new TaskSlot(false), false);
    const splitsAreFaster = bytesOf(files) >= WORTH_SPLITTING && this.#proof(files, request).proof !== undefined;
    return { sql, splitsAreFaster, ...pathsOf(files), ...this.#packed(files), ...this.#report(files, request) };
  }

  #check(files: readonly PartitionedFile[], { since }: ScanRequest): void {
    checkUnchanged({ ...this.partitions, files }, since, this.format.operator);
  }

  #split(bundle: readonly PartitionedFile[], request: ScanRequest): Split {
    const isHeld = areHeldTogether(bundle);
    const slot = new TaskSlot(isHeld && this.#takesContents(bundle));
    const sql = this.#sql(bundle, request, slot, false);
    const stream = slot.stream !== null && { stream: slot.stream };
    const contents = slot.contents !== null && { contents: slot.contents };
    const proof = slot.contents === null && this.#proof(bundle, request);
    const joined = isHeld && this.#joined(bundle, request);
    return {
      kind: "sql",
      sql,
      ...pathsOf(bundle),
      ...stream,
      ...contents,
      ...this.#packed(bundle),
      ...proof,
      ...joined,
    };
  }

  #proof(bundle: readonly PartitionedFile[], request: ScanRequest): { proof?: CsvProof } {
    // If no values are needed, there is nothing to convert and so nothing to prove.
    if (request.columns?.length === 0) return {};
    const proof = this.format.proof?.(bundle, this.#wanted(request.columns)) ?? null;
    return proof === null ? {} : { proof: { ...proof, sql: this.#sql(bundle, request, new TaskSlot(false), true) } };
  }

  #takesContents(files: readonly PartitionedFile[]): boolean {
    return this.format.takesContents === true && !files.some((file) => this.format.isStream(file));
  }

  /** How to read files of one partition folder as one, if no row's file matters. */
  #joined(files: readonly PartitionedFile[], { columns, samples, since }: ScanRequest): { joined?: JoinedFiles } {
    if (this.options.includePaths || samples.length > 0) return {};
    const { wanted, read } = this.#readFor(columns);
    const joined = this.format.joined?.(files, read) ?? null;
    if (joined === null) return {};
    const names = wanted.map(({ name }) => quoteIdentifier(name));
    const constants = partitionItems(this.partitions.columns, files[0]?.values ?? []);
    return {
      joined: {
        ...joined,
        ...readSince(since),
        sql: `(SELECT ${[...names, ...constants].join(", ")} FROM ${joined.sql})`,
      },
    };
  }

  #packed(files: readonly PartitionedFile[]): { packed?: readonly PackedFile[] } {
    // A format that skips rows also skips a record that is cut short at the end of a file.
    if (this.format.leavesOutRows) return {};
    const packed = files.flatMap((file): readonly PackedFile[] => {
      const packing = file.bytes === 0 ? null : (this.format.packing?.(file) ?? null);
      if (packing === null) return [];
      const refusedLine = this.format.refusedLine?.(file);
      return [{ path: file.path, packing, ...(refusedLine === undefined ? {} : { refusedLine }) }];
    });
    return packed.length === 0 ? {} : { packed };
  }

  #report(files: readonly PartitionedFile[], request: ScanRequest): Omit<ScanSplits, "splits"> {
    const skippedFiles = this.partitions.files.length - files.length;
    return {
      skipped: {
        ...nothingSkipped,
        files: skippedFiles,
        columns: request.columns === null ? 0 : this.columns.length - request.columns.length,
      },
      notes:
        skippedFiles === 0
          ? []
          : [`partitions leave ${files.length} of ${this.partitions.files.length} files to be read`],
    };
  }

  async cut(): Promise<SourceCut> {
    const bundles = this.columns.length === 0 ? [] : await this.#bundles(this.partitions.files);
    return {
      sizes: bundles.map(bytesOf),
      stretch: (from, to) => {
        const { engine, format, options, partitions, own } = this;
        const files = bundles.slice(from, to).flat();
        return new SqlFileReader(engine, format, ofStretch(options, to - from), { ...partitions, files }, own);
      },
    };
  }

  async #bundles(files: readonly PartitionedFile[]): Promise<readonly (readonly PartitionedFile[])[]> {
    const { overrideNumBlocks } = this.options;
    const bytes = bytesOf(files);
    const pieces = this.format.cuts === undefined ? files.length : Math.max(files.length, bytes);
    const work = bytes + files.length * OPENING;
    const count = taskCount({ bytes: work, rows: null, pieces }, overrideNumBlocks, this.engine.settings);
    const parts: PartitionedFile[] = [];
    const share = bytes / Math.max(1, count);
    for (const file of files) {
      if (this.#mayCut(file, share)) parts.push(...(await this.#parts(file, share)));
      else parts.push(file);
    }
    return bundled(parts, count, (file) => file.bytes + OPENING).flatMap((bundle) => this.#apart(bundle));
  }

  /** Each stream alone; the files between two streams together. */
  #apart(bundle: readonly PartitionedFile[]): readonly (readonly PartitionedFile[])[] {
    const groups: PartitionedFile[][] = [];
    let isOpen = false;
    for (const file of bundle) {
      const alone = this.format.isStream(file);
      if (isOpen && !alone) groups.at(-1)?.push(file);
      else groups.push([file]);
      isOpen = !alone;
    }
    return groups;
  }

  #mayCut(file: PartitionedFile, share: Bytes): boolean {
    return this.format.cuts !== undefined && file.part === undefined && this.#partCount(file, share) >= 2;
  }

  #partCount({ bytes }: PartitionedFile, share: Bytes): number {
    const smallest = this.options.overrideNumBlocks === null ? SMALLEST_PART : 1;
    return Math.round(bytes / Math.max(share, smallest));
  }

  /** The whole file, or parts of about a task's share. */
  async #parts(file: PartitionedFile, share: Bytes): Promise<readonly PartitionedFile[]> {
    const starts = (await this.format.cuts?.(file, cutPoints(file.bytes, this.#partCount(file, share)))) ?? [];
    if (starts.length === 0) return [file];
    return [0, ...starts].map((start, i) => {
      const end = starts[i] ?? file.bytes;
      return { ...file, bytes: end - start, part: { start, end, of: file.bytes } };
    });
  }

  #sql(files: readonly PartitionedFile[], { columns, samples }: ScanRequest, slot: TaskSlot, proved: boolean): string {
    const { wanted, read } = this.#readFor(columns);
    const names = wanted.map(({ name }) => quoteIdentifier(name));
    if (this.options.includePaths) names.push("path");
    const groups = sameValues(files);
    const parts = groups.map((group) => {
      const constants = partitionItems(this.partitions.columns, group[0]?.values ?? []);
      const table = this.format.tableSql(group, read, this.options.includePaths, slot, proved);
      return `SELECT ${[...names, ...constants].join(", ")} FROM ${table}`;
    });
    const all = parts.length === 1 ? parts.join("") : parts.map((part) => `(${part})`).join(" UNION ALL ");
    if (samples.length === 0) return `(${all})`;
    const row = quoteIdentifier("__spillway_row");
    const { shown, part } = files[0] ?? {};
    // The part's offset distinguishes its rows from those of other parts.
    const from = (part?.start ?? 0) === 0 ? "" : `#${part?.start}`;
    const place = `${quoteText(`${shown ?? ""}${from}`)}, ${row}`;
    const conditions = samples.map((sample) => placeSampleSql(place, sample)).join(" AND ");
    return `(SELECT * EXCLUDE (${row}) FROM (SELECT *, row_number() OVER () AS ${row} FROM (${all})) WHERE ${conditions})`;
  }

  #readFor(columns: readonly string[] | null): {
    readonly wanted: readonly Column[];
    readonly read: readonly Column[];
  } {
    const wanted = this.#wanted(columns);
    return { wanted, read: this.format.leavesOutRows || wanted.length === 0 ? this.own : wanted };
  }

  /** Columns that are not read need not be in the SQL, whose size matters with thousands of columns. */
  #wanted(columns: readonly string[] | null): readonly Column[] {
    if (columns === null) return this.#kept;
    const names = new Set(columns);
    const some = this.#kept.filter(({ name }) => names.has(name));
    return some.length > 0 ? some : this.#kept.slice(0, 1);
  }
}

/** Neighbouring files in the same partition folder. */
function sameValues(files: readonly PartitionedFile[]): readonly (readonly PartitionedFile[])[] {
  const groups: PartitionedFile[][] = [];
  let last: PartitionedFile | null = null;
  for (const file of files) {
    if (last === null || !haveSameValues(last, file)) groups.push([]);
    groups.at(-1)?.push(file);
    last = file;
  }
  return groups;
}

function pathsOf(files: readonly SourceFile[]): { readonly files: readonly string[] } {
  return { files: files.map(({ path }) => path) };
}
