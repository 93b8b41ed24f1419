/**
 * Files that the kernel reads by SQL: CSV, JSON, text, binary. A split is a file, a part of one, or a bundle of small
 * ones; what differs between the formats is only how their columns are found, where they can be cut and which table
 * function reads them.
 */
import { quoteIdentifier, quoteText } from "../../arrow/index.ts";
import {
  type Column,
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
  type PartitionedFile,
  type Partitions,
  partitionItems,
  prunePartitions,
} from "./partitions.ts";
import { bundled, TASKS_PER_WORKER, taskCount } from "./splitting.ts";

/** How one format is read; `path` is a column of its own table where paths are included. */
export interface SqlFormat {
  readonly operator: string;
  /** Rows that do not fit a column are left out, so which rows there are depends on all columns. */
  readonly leavesOutRows: boolean;
  /** Finds the columns (without partitions, whose names are given, and `path`) by looking at the files. */
  columns(files: readonly SourceFile[], partitioned: readonly string[]): Promise<readonly Column[]>;
  /**
   * SQL that reads files into those columns, or those of them that are needed, and `path` where asked for. `proved`:
   * what `proof` says of them is true.
   */
  tableSql(
    files: readonly SourceFile[],
    columns: readonly Column[],
    includePaths: boolean,
    slot: TaskSlot,
    proved: boolean,
  ): string;
  /** What has to be true of files to be read faster; null where nothing makes it so. Absent: always. */
  proof?(files: readonly SourceFile[], columns: readonly Column[]): Omit<CsvProof, "sql"> | null;
  /** Whether `tableSql` reads this file, or part of one, as a stream. */
  isStream(file: SourceFile): boolean;
  /** As the kernel unpacks it; absent: nothing is. */
  packing?(file: SourceFile): PackedFile["packing"] | null;
  /** Its table can be made of the contents of whole files, in a slot that holds them: no file is a stream then. */
  readonly takesContents?: boolean;
  /** Where rows begin soon after these places of a file: what may be read by tasks of their own. Absent: nowhere. */
  cuts?(file: SourceFile, points: readonly Bytes[]): Promise<readonly Bytes[]>;
}

/**
 * What a split's SQL reads by way of its task: a stream, or the contents of all its files. It has one stream at most:
 * streams are written one after another, and the kernel may want the last one first.
 */
export class TaskSlot {
  stream: TextStream | null = null;
  contents: FileContents | null = null;

  /** `holdsContents`: the task may read the files by itself, and hold all that is in them. */
  constructor(readonly holdsContents: boolean) {}

  /** SQL for the table of all files. */
  takeContents(contents: FileContents): string {
    this.contents = contents;
    return CONTENTS;
  }

  /** SQL for the path of the stream. */
  take(stream: TextStream): string {
    if (this.stream !== null) throw new Error(`${stream.path}: a split reads one stream, and has ${this.stream.path}`);
    this.stream = stream;
    return STREAM_PATH;
  }
}

/** From so many small files on, a task reads them by itself where it can. */
const SEVERAL_FILES = 16;
/** So many are read by tasks, and not by the SQL of a query over all rows. */
const MANY_FILES = 256;
/** What a task holds of its files at most. */
const MOST_HELD: Bytes = 8 * 2 ** 20;
/** What opening a file takes, as bytes that could be read in the same time. */
const OPENING: Bytes = 16 * 1024;
/** From here on tasks that prove what they read are done before a kernel with all threads that does not. */
const WORTH_SPLITTING: Bytes = 64 * 2 ** 20;
/** Below this a part of a file costs more than it saves. */
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
  const own = await inSourceWords(format.operator, listed, () =>
    format.columns(
      listed,
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
    // A column that is both in the file and in its folder's name is the folder's.
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
    // Nothing but empty files: no columns, no rows.
    if (this.columns.length === 0) return { splits: [], skipped: nothingSkipped, notes: [] };
    const files = await prunePartitions(this.partitions, request.filters, this.engine);
    checkUnchanged(files, this.format.operator);
    const bundles = await this.#bundles(files);
    return { splits: bundles.map((bundle) => this.#split(bundle, request)), ...this.#report(files, request) };
  }

  async whole(request: ScanRequest): Promise<WholeScan | null> {
    if (this.columns.length === 0) return null;
    const files = await prunePartitions(this.partitions, request.filters, this.engine);
    if (files.length === 0 || files.some((file) => this.format.isStream(file))) return null;
    // Tasks read them several times as fast, and hand over the rows.
    if (files.length >= MANY_FILES && this.#holdsContents(files, TASKS_PER_WORKER * MOST_HELD)) return null;
    checkUnchanged(files, this.format.operator);
    const sql = this.#sql(files, request, new TaskSlot(false), false);
    const splitsAreFaster = bytesOf(files) >= WORTH_SPLITTING && this.#proof(files, request).proof !== undefined;
    return { sql, splitsAreFaster, ...pathsOf(files), ...this.#packed(files), ...this.#report(files, request) };
  }

  #split(bundle: readonly PartitionedFile[], request: ScanRequest): Split {
    const slot = new TaskSlot(this.#holdsContents(bundle));
    const sql = this.#sql(bundle, request, slot, false);
    const stream = slot.stream !== null && { stream: slot.stream };
    const contents = slot.contents !== null && { contents: slot.contents };
    const proof = slot.contents === null && this.#proof(bundle, request);
    return { kind: "sql", sql, ...pathsOf(bundle), ...stream, ...contents, ...this.#packed(bundle), ...proof };
  }

  #proof(bundle: readonly PartitionedFile[], request: ScanRequest): { proof?: CsvProof } {
    // Where no value is wanted, none is made.
    if (request.columns?.length === 0) return {};
    const proof = this.format.proof?.(bundle, this.#wanted(request.columns)) ?? null;
    return proof === null ? {} : { proof: { ...proof, sql: this.#sql(bundle, request, new TaskSlot(false), true) } };
  }

  /** Several files of one partition folder, with little in them. */
  #holdsContents(files: readonly PartitionedFile[], most: Bytes = MOST_HELD): boolean {
    if (this.format.takesContents !== true || files.length < SEVERAL_FILES || bytesOf(files) > most) return false;
    return sameValues(files).length === 1 && !files.some((file) => this.format.isStream(file));
  }

  #packed(files: readonly PartitionedFile[]): { packed?: readonly PackedFile[] } {
    // What is missing at the end of a file is left out, too, where that is asked for.
    if (this.format.leavesOutRows) return {};
    const packed = files.flatMap((file): readonly PackedFile[] => {
      const packing = file.bytes === 0 ? null : (this.format.packing?.(file) ?? null);
      return packing === null ? [] : [{ path: file.path, packing }];
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
    for (const file of files) parts.push(...(await this.#parts(file, bytes / Math.max(1, count))));
    return bundled(parts, count, (file) => file.bytes + OPENING).flatMap((bundle) => this.#apart(bundle));
  }

  /** Each stream for itself, what is between them together. */
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

  /** A file as it is, or cut into parts of about a task's share. */
  async #parts(file: PartitionedFile, share: Bytes): Promise<readonly PartitionedFile[]> {
    const { cuts } = this.format;
    const smallest = this.options.overrideNumBlocks === null ? SMALLEST_PART : 1;
    const count = Math.round(file.bytes / Math.max(share, smallest));
    if (cuts === undefined || file.part !== undefined || count < 2) return [file];
    const starts = await cuts(file, cutPoints(file.bytes, count));
    if (starts.length === 0) return [file];
    return [0, ...starts].map((start, i) => {
      const end = starts[i] ?? file.bytes;
      return { ...file, bytes: end - start, part: { start, end, of: file.bytes } };
    });
  }

  #sql(files: readonly PartitionedFile[], { columns, samples }: ScanRequest, slot: TaskSlot, proved: boolean): string {
    const wanted = this.#wanted(columns);
    const names = wanted.map(({ name }) => quoteIdentifier(name));
    if (this.options.includePaths) names.push("path");
    const read = this.format.leavesOutRows || wanted.length === 0 ? this.own : wanted;
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
    // Rows of a part are told from those of the others by where it begins.
    const from = (part?.start ?? 0) === 0 ? "" : `#${part?.start}`;
    const place = `${quoteText(`${shown ?? ""}${from}`)}, ${row}`;
    const conditions = samples.map((sample) => placeSampleSql(place, sample)).join(" AND ");
    return `(SELECT * EXCLUDE (${row}) FROM (SELECT *, row_number() OVER () AS ${row} FROM (${all})) WHERE ${conditions})`;
  }

  /** What is not read need not be in the SQL, whose size matters where there are thousands of columns. */
  #wanted(columns: readonly string[] | null): readonly Column[] {
    if (columns === null) return this.#kept;
    const names = new Set(columns);
    const some = this.#kept.filter(({ name }) => names.has(name));
    return some.length > 0 ? some : this.#kept.slice(0, 1);
  }
}

/** Neighbours in the same partition folder. */
function sameValues(files: readonly PartitionedFile[]): readonly (readonly PartitionedFile[])[] {
  const groups: PartitionedFile[][] = [];
  let last: string | null = null;
  for (const file of files) {
    const key = JSON.stringify(file.values);
    if (key !== last) groups.push([]);
    groups.at(-1)?.push(file);
    last = key;
  }
  return groups;
}

function pathsOf(files: readonly SourceFile[]): { readonly files: readonly string[] } {
  return { files: files.map(({ path }) => path) };
}
