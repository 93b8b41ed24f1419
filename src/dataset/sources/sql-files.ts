/**
 * Files that the kernel reads whole: CSV, JSON, text, binary. A split is a file or a bundle of small ones; what differs
 * between the formats is only how their columns are found and which table function reads them.
 */
import {
  type Column,
  nothingSkipped,
  type OpenSource,
  quoteIdentifier,
  quoteText,
  type ScanRequest,
  type ScanSplits,
  type Source,
  type SourceCut,
  type WholeScan,
} from "../../plan/index.ts";
import type { Bytes, Split } from "../../protocol/index.ts";
import { placeSampleSql } from "../../stages/index.ts";
import type { Engine } from "../engine.ts";
import { fileSource } from "./file-source.ts";
import { bytesOf, listFiles, type SourceFile } from "./files.ts";
import { inSourceWords } from "./kernel-words.ts";
import { type CheckedReadOptions, ofStretch } from "./options.ts";
import {
  findPartitions,
  type PartitionedFile,
  type Partitions,
  partitionItems,
  prunePartitions,
} from "./partitions.ts";
import { bundled, taskCount } from "./splitting.ts";

/** How one format is read; `path` is a column of its own table where paths are included. */
export interface SqlFormat {
  readonly operator: string;
  /** Rows that do not fit a column are left out, so which rows there are depends on all columns. */
  readonly leavesOutRows: boolean;
  /** Finds the columns (without partitions, whose names are given, and `path`) by looking at the files. */
  columns(files: readonly SourceFile[], partitioned: readonly string[]): Promise<readonly Column[]>;
  /** SQL that reads files into those columns, or those of them that are needed, and `path` where asked for. */
  tableSql(files: readonly SourceFile[], columns: readonly Column[], includePaths: boolean): string;
}

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
    return {
      splits: this.#bundles(files).map(
        (bundle): Split => ({
          kind: "sql",
          sql: this.#sql(bundle, request),
          files: bundle.map((file) => file.path),
        }),
      ),
      ...this.#report(files, request),
    };
  }

  async whole(request: ScanRequest): Promise<WholeScan | null> {
    if (this.columns.length === 0) return null;
    const files = await prunePartitions(this.partitions, request.filters, this.engine);
    if (files.length === 0) return null;
    return { sql: this.#sql(files, request), ...this.#report(files, request) };
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
    const bundles = this.columns.length === 0 ? [] : this.#bundles(this.partitions.files);
    return {
      sizes: bundles.map(bytesOf),
      stretch: (from, to) => {
        const { engine, format, options, partitions, own } = this;
        const files = bundles.slice(from, to).flat();
        return new SqlFileReader(engine, format, ofStretch(options, to - from), { ...partitions, files }, own);
      },
    };
  }

  #bundles(files: readonly PartitionedFile[]): readonly (readonly PartitionedFile[])[] {
    const amount = { bytes: bytesOf(files), rows: null, pieces: files.length };
    const count = taskCount(amount, this.options.overrideNumBlocks, this.engine.settings);
    return bundled(files, count, (file) => file.bytes + 1);
  }

  #sql(files: readonly PartitionedFile[], { columns, samples }: ScanRequest): string {
    const wanted = this.#wanted(columns);
    const names = wanted.map(({ name }) => quoteIdentifier(name));
    if (this.options.includePaths) names.push("path");
    const read = this.format.leavesOutRows || wanted.length === 0 ? this.own : wanted;
    const groups = sameValues(files);
    const parts = groups.map((group) => {
      const constants = partitionItems(this.partitions.columns, group[0]?.values ?? []);
      const table = this.format.tableSql(group, read, this.options.includePaths);
      return `SELECT ${[...names, ...constants].join(", ")} FROM ${table}`;
    });
    const all = parts.length === 1 ? parts.join("") : parts.map((part) => `(${part})`).join(" UNION ALL ");
    if (samples.length === 0) return `(${all})`;
    const row = quoteIdentifier("__spillway_row");
    const place = `${quoteText(files[0]?.shown ?? "")}, ${row}`;
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
