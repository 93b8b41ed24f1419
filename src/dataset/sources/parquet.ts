/**
 * Parquet files. Their footers are read once, in a worker. Splits are ranges of row groups, so that a large file keeps
 * all workers busy, and many small files share a task.
 */
import { MANY_COLUMNS, quoteIdentifier } from "../../arrow/index.ts";
import { SourceError } from "../../errors/index.ts";
import type {
  Column,
  NoRows,
  OpenSource,
  RowSample,
  ScanRequest,
  ScanSplits,
  Source,
  SourceCut,
  WholeScan,
} from "../../plan/index.ts";
import { type Bytes, JOINED, type JoinedFiles, type Split } from "../../protocol/index.ts";
import { placeSampleSql } from "../../stages/index.ts";
import type { Engine } from "../engine.ts";
import { exactCastSql } from "./exact-cast.ts";
import { fileSource } from "./file-source.ts";
import { bytesOf, checkUnchanged, listFiles } from "./files.ts";
import { holdsFloats, withoutStatistics } from "./float-statistics.ts";
import { pathListSql } from "./kernel-paths.ts";
import { inSourceWords } from "./kernel-words.ts";
import { type CheckedReadOptions, ofStretch } from "./options.ts";
import { type FileSchemas, schemasOf } from "./parquet-schema.ts";
import {
  findPartitions,
  haveSameValues,
  type PartitionedFile,
  type Partitions,
  partitionItems,
  prunePartitions,
} from "./partitions.ts";
import { bytesIn, part, type RowsByFile, rowsByFile, rowsIn, within } from "./row-group-parts.ts";
import { mayMatchSql, type RowGroup, readRowGroups } from "./row-groups.ts";
import { areForTasks, areHeldTogether, readSince } from "./small-files.ts";
import { bundled, cutByRows, heldAtOnce, taskCount } from "./splitting.ts";

export function parquetSource(engine: Engine, paths: readonly string[], options: CheckedReadOptions): Source {
  return fileSource("readParquet", paths, () => open(engine, paths, options));
}

async function open(engine: Engine, paths: readonly string[], options: CheckedReadOptions): Promise<OpenSource> {
  const listed = await listFiles(paths, "readParquet");
  const { files } = listed;
  const partitions = findPartitions(listed, options.schema, "readParquet");
  const own = await inSourceWords("readParquet", files, () => schemasOf(engine, files, options));
  return new ParquetReader(engine, options, partitions, own, null);
}

/** A stretch of rows of one file. */
interface Stretch {
  readonly file: PartitionedFile;
  readonly start: number;
  readonly end: number;
  readonly whole: boolean;
}

/** About how much Parquet's encodings and compression save. */
const UNPACKED = 2;
const ROW = quoteIdentifier("file_row_number");
const FILE = quoteIdentifier("__spillway_file");

class ParquetReader implements OpenSource {
  readonly columns: readonly Column[];
  readonly partitionColumns: readonly string[];
  readonly prunes = true;
  readonly samples = true;
  readonly bytes: Bytes;
  readonly #own: readonly Column[];
  readonly #casts: boolean;
  #groups: Promise<readonly RowGroup[]> | null = null;

  constructor(
    private readonly engine: Engine,
    private readonly options: CheckedReadOptions,
    private readonly partitions: Partitions,
    private readonly found: FileSchemas,
    /** The rows to read of each file; null: all rows. */
    private readonly rows: RowsByFile | null,
  ) {
    const partitioned = new Set(partitions.columns.map(({ name }) => name));
    const own = found.columns.filter(({ name }) => !partitioned.has(name));
    for (const name of Object.keys(options.schema)) {
      if (!partitioned.has(name) && !own.some((column) => column.name === name)) {
        const [first] = partitions.files;
        throw new SourceError(
          `readParquet: the schema names "${name}", which ${first?.shown} does not have. Its columns: ${own.map((column) => column.name).join(", ")}.`,
          first?.path ?? "",
        );
      }
    }
    this.#own = own.map(({ name, type }) => ({ name, type: options.schema[name] ?? type }));
    const [file] = partitions.files;
    this.#casts = !found.uniform || this.#own.some(({ name, type }) => type !== found.typeIn(file?.path ?? "", name));
    const path = options.includePaths ? [{ name: "path", type: "VARCHAR" }] : [];
    this.columns = [...this.#own, ...path, ...partitions.columns];
    this.partitionColumns = partitions.columns.map(({ name }) => name);
    this.bytes = bytesOf(partitions.files) * UNPACKED;
  }

  async countRows(): Promise<number> {
    return rowsIn(within(await this.#allGroups(), this.rows));
  }

  async cut(): Promise<SourceCut> {
    const groups = within(await this.#allGroups(), this.rows).filter((group) => group.rows > 0);
    const parts = this.#bundles(groups, this.columns.length);
    return {
      sizes: parts.map(bytesIn),
      stretch: (from, to) => {
        const { engine, options, partitions, found } = this;
        const rows = rowsByFile(parts.slice(from, to).flat());
        const files = partitions.files.filter((file) => rows.has(file.path));
        return new ParquetReader(engine, ofStretch(options, to - from), { ...partitions, files }, found, rows);
      },
    };
  }

  #allGroups(): Promise<readonly RowGroup[]> {
    const { groups } = this.found;
    if (groups !== null) return Promise.resolve(groups);
    this.#groups ??= readRowGroups(this.engine, this.partitions.files, null, "TRUE");
    this.#groups.catch(() => {
      this.#groups = null;
    });
    return this.#groups;
  }

  async splits(request: ScanRequest): Promise<ScanSplits> {
    const files = await prunePartitions(this.partitions, request.filters, this.engine);
    this.#check(files, request);
    const condition = this.#condition(request);
    const all = await this.#groupsOf(files, request.columns, condition);
    const groups = within(all, this.rows);
    const matching = groups.filter((group) => group.mayMatch && group.rows > 0);
    const kept = request.limit === null ? matching : firstGroups(matching, request.limit);
    return {
      splits: this.#splits(files, all, kept, request),
      ...this.#report(files, groups, matching, kept, request),
    };
  }

  /**
   * Reads whole files, except for a stretch of a read. The kernel skips row groups by itself, so here they are only
   * counted.
   */
  async whole(request: ScanRequest): Promise<WholeScan | NoRows | null> {
    const files = await prunePartitions(this.partitions, request.filters, this.engine);
    const condition = this.#condition(request);
    const readsAll = condition === "TRUE" && this.rows === null;
    if (readsAll && areForTasks(files) && this.#isJoinable(request)) return null;
    this.#check(files, request);
    if (readsAll) {
      if (files.length === 0) return { sql: null, ...this.#report(files, [], [], [], request) };
      const stretches = files.map((file) => ({ file, start: 0, end: 0, whole: true }));
      const sql = this.#sql(stretches, request.samples);
      return { sql, files: pathsIn(stretches), ...this.#report(files, [], [], [], request, files.length) };
    }
    const all = await this.#groupsOf(files, request.columns, condition);
    const groups = within(all, this.rows);
    const kept = groups.filter((group) => group.mayMatch && group.rows > 0);
    if (kept.length === 0) return { sql: null, ...this.#report(files, groups, kept, kept, request) };
    const wanted = new Set(kept.map((group) => group.path));
    const read = this.rows === null ? groups.filter((group) => wanted.has(group.path)) : kept;
    const stretches = this.#stretches(files, all, read);
    const rows = rowsIn(kept);
    const sql = this.#sql(stretches, request.samples);
    return { sql, files: pathsIn(stretches), rows, ...this.#report(files, groups, kept, kept, request) };
  }

  #check(files: readonly PartitionedFile[], { since }: ScanRequest): void {
    checkUnchanged({ ...this.partitions, files }, since, "readParquet");
  }

  #condition({ filters }: ScanRequest): string {
    const trusted = this.found.columns.filter(
      ({ name, type }) => this.options.schema[name] === undefined || this.options.schema[name] === type,
    );
    // For many small files, reading the statistics takes as long as reading the rows.
    return this.found.uniform && this.found.groups === null ? mayMatchSql(filters, trusted) : "TRUE";
  }

  /** `columns` are the columns whose bytes count, if the bytes of all columns are not known already. */
  #groupsOf(
    files: readonly PartitionedFile[],
    columns: readonly string[] | null,
    condition: string,
  ): Promise<readonly RowGroup[]> {
    const { groups } = this.found;
    if (groups !== null) return Promise.resolve(ofFiles(groups, files));
    const plain = condition === "TRUE" && columns === null && files.length === this.partitions.files.length;
    return plain ? this.#allGroups() : readRowGroups(this.engine, files, columns, condition);
  }

  /** Whether small files can be read as one: no row's file matters, and all have the same columns. */
  #isJoinable({ samples }: ScanRequest): boolean {
    return this.found.uniform && !this.#casts && !this.options.includePaths && samples.length === 0;
  }

  #stretches(
    files: readonly PartitionedFile[],
    all: readonly RowGroup[],
    groups: readonly RowGroup[],
  ): readonly Stretch[] {
    const byPath = new Map(files.map((file) => [file.path, file]));
    const fileRows = new Map<string, number>();
    for (const { path, rows } of all) fileRows.set(path, (fileRows.get(path) ?? 0) + rows);
    return stretchesOf(groups, byPath, fileRows);
  }

  #splits(
    files: readonly PartitionedFile[],
    all: readonly RowGroup[],
    kept: readonly RowGroup[],
    request: ScanRequest,
  ): readonly Split[] {
    const read = new Set(request.columns ?? this.columns.map(({ name }) => name));
    const columns = this.columns.filter(({ name }) => read.has(name));
    return this.#bundles(kept, columns.length).map((groups): Split => {
      const stretches = this.#stretches(files, all, groups);
      const sql = this.#sql(stretches, request.samples);
      const paths = [...new Set(stretches.map(({ file }) => file.path))];
      if (request.samples.length > 0) return { kind: "sql", sql, files: paths };
      const rows = stretches.reduce((sum, { start, end }) => sum + end - start, 0);
      const joined = this.#isJoinable(request) && this.#joined(stretches, request);
      const held = Math.max(bytesIn(groups), rows * columns.length * 8);
      const wide = columns.length > MANY_COLUMNS && heldAtOnce(held, columns, this.engine.settings);
      return { kind: "sql", sql, files: paths, rows, ...joined, ...wide };
    });
  }

  /** The row groups of each task. Groups are cut if there are more tasks than groups. */
  #bundles(groups: readonly RowGroup[], columns: number): readonly (readonly RowGroup[])[] {
    const override = this.options.overrideNumBlocks;
    if (override !== null && override > groups.length) {
      return cutByRows(groups, override, (group) => group.rows).map((stretch) =>
        stretch.map(({ item, start, end }) => part(item, item.start + start, item.start + end)),
      );
    }
    const amount = { bytes: bytesIn(groups), rows: rowsIn(groups), pieces: groups.length };
    // Values of a few bits take eight bytes once they are read: with very many columns these are what a task can hold.
    if (columns > MANY_COLUMNS) amount.bytes = Math.max(amount.bytes, amount.rows * columns * 8);
    return bundled(groups, taskCount(amount, override, this.engine.settings), (group) => group.bytes);
  }

  #joined(stretches: readonly Stretch[], { since }: ScanRequest): { joined?: JoinedFiles } {
    const files = stretches.map(({ file }) => file);
    if (!stretches.every(({ whole }) => whole) || !areHeldTogether(files)) return {};
    return { joined: { kind: "parquet", ...readSince(since), sql: this.#partSql(stretches, [], JOINED) } };
  }

  #sql(stretches: readonly Stretch[], samples: readonly RowSample[]): string {
    const parts: string[] = [];
    let wholes: Stretch[] = [];
    const flush = () => {
      if (wholes.length > 0) parts.push(this.#partSql(wholes, samples));
      wholes = [];
    };
    for (const stretch of stretches) {
      const [first] = wholes;
      const sameFolder = first === undefined || haveSameValues(first.file, stretch.file);
      // In files with other types, the kernel's reader casts constants to the file's own type before comparing (0.5
      // becomes 1 or 0 as BIGINT).
      if (!stretch.whole || !sameFolder || !this.found.uniform) flush();
      if (stretch.whole) wholes.push(stretch);
      else parts.push(this.#partSql([stretch], samples));
    }
    flush();
    const [only, ...others] = parts;
    if (only !== undefined && others.length === 0) return only;
    return `(${parts.map((part) => `(SELECT * FROM ${part})`).join(" UNION ALL ")})`;
  }

  /** SQL for whole files of one partition folder, or for a stretch of one file. `paths` is SQL for the files' paths. */
  #partSql(
    stretches: readonly Stretch[],
    samples: readonly RowSample[],
    paths = pathListSql(stretches.map(({ file }) => file)),
  ): string {
    const [first] = stretches;
    const ranged = first !== undefined && !first.whole;
    const numbered = ranged || samples.length > 0;
    const args = [paths, "hive_partitioning=false"];
    if (numbered) args.push("file_row_number=true");
    if (this.options.includePaths) args.push("filename='path'");
    else if (samples.length > 0 || this.#casts) args.push(`filename='__spillway_file'`);
    const table = `read_parquet(${args.join(", ")})`;
    const partitioned = this.partitions.columns.length > 0;
    const guarded = this.#own.some(({ type }) => holdsFloats(type));
    if (!numbered && !partitioned && !this.#casts && !guarded) return table;
    const file = this.options.includePaths ? quoteIdentifier("path") : FILE;
    const conditions = samples.map((sample) => placeSampleSql(`${file}, ${ROW}`, sample));
    if (ranged) conditions.push(`${ROW} BETWEEN ${first.start} AND ${first.end - 1}`);
    const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
    return `(SELECT ${this.#listSql(first?.file, file)} FROM ${table}${where})`;
  }

  #listSql(file: PartitionedFile | undefined, path: string): string {
    const own = this.#own.map(({ name, type }) => {
      const column = quoteIdentifier(name);
      const value = withoutStatistics(this.#casts ? this.#castSql(name, type, file?.path ?? "", path) : column, type);
      return value === column ? column : `${value} AS ${column}`;
    });
    const paths = this.options.includePaths ? [quoteIdentifier("path")] : [];
    return [...own, ...paths, ...partitionItems(this.partitions.columns, file?.values ?? [])].join(", ");
  }

  #castSql(name: string, type: string, file: string, path: string): string {
    const own = this.found.typeIn(file, name);
    if (own === null) return `CAST(NULL AS ${type})`;
    const declared = this.options.schema[name] !== undefined;
    return exactCastSql(quoteIdentifier(name), { operator: "readParquet", name, own, type, declared }, path);
  }

  #report(
    files: readonly PartitionedFile[],
    groups: readonly RowGroup[],
    matching: readonly RowGroup[],
    kept: readonly RowGroup[],
    { columns }: ScanRequest,
    readFiles: number = new Set(kept.map((group) => group.path)).size,
  ): Omit<ScanSplits, "splits"> {
    const allFiles = this.partitions.files.length;
    const notes: string[] = [];
    if (files.length < allFiles) notes.push(`partitions leave ${files.length} of ${allFiles} files to be read`);
    if (matching.length < groups.length)
      notes.push(`statistics leave ${matching.length} of ${groups.length} row groups to be read`);
    if (kept.length < matching.length)
      notes.push(`the limit leaves ${kept.length} of ${matching.length} row groups to be read`);
    return {
      skipped: {
        files: allFiles - readFiles,
        rowGroups: groups.length - kept.length,
        rows: rowsIn(groups) - rowsIn(kept),
        columns: columns === null ? 0 : this.columns.length - columns.length,
      },
      notes,
    };
  }
}

function ofFiles(groups: readonly RowGroup[], files: readonly PartitionedFile[]): readonly RowGroup[] {
  const paths = new Set(files.map(({ path }) => path));
  return groups.filter(({ path }) => paths.has(path));
}

function firstGroups(groups: readonly RowGroup[], rows: number): readonly RowGroup[] {
  const kept: RowGroup[] = [];
  let left = rows;
  for (const group of groups) {
    if (left <= 0) break;
    kept.push(group);
    left -= group.rows;
  }
  return kept;
}

/** Row groups of one file form one stretch. The reader skips a group in between that cannot match. */
function stretchesOf(
  groups: readonly RowGroup[],
  files: ReadonlyMap<string, PartitionedFile>,
  fileRows: ReadonlyMap<string, number>,
): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (const { path, start, rows } of groups) {
    const file = files.get(path);
    if (file === undefined) continue;
    const last = stretches.at(-1);
    const joined = last?.file.path === path ? stretches.pop() : undefined;
    const from = joined?.start ?? start;
    const end = start + rows;
    stretches.push({ file, start: from, end, whole: from === 0 && end === fileRows.get(path) });
  }
  return stretches;
}

function pathsIn(stretches: readonly { readonly file: PartitionedFile }[]): readonly string[] {
  return [...new Set(stretches.map(({ file }) => file.path))];
}
