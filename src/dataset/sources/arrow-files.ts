/**
 * Arrow IPC files, as streams or with a footer. Only their schemas are read here; a worker maps the rest. Partition
 * folders, paths and declared types are added by SQL over the rows, in one part for each folder (or file).
 */
import { foldedName, quoteIdentifier, quoteText } from "../../arrow/index.ts";
import { SourceError } from "../../errors/index.ts";
import {
  type Column,
  nothingSkipped,
  type OpenSource,
  type ScanRequest,
  type ScanSplits,
  type Source,
  type SourceCut,
} from "../../plan/index.ts";
import type { Split } from "../../protocol/index.ts";
import type { Engine } from "../engine.ts";
import { schemasOfFiles } from "./arrow-schema.ts";
import { columnsOfBatch } from "./blocks.ts";
import { namesOfAll } from "./differing.ts";
import { type CastColumn, canLose, exactCastSql } from "./exact-cast.ts";
import { fileSource } from "./file-source.ts";
import { bytesOf, checkUnchanged, listFiles, type SourceFile } from "./files.ts";
import { type CheckedReadOptions, ofStretch } from "./options.ts";
import { inCommonTypes, typesOf } from "./parquet-schema.ts";
import {
  findPartitions,
  type PartitionedFile,
  type Partitions,
  partitionItems,
  prunePartitions,
} from "./partitions.ts";
import { bundled, taskCount } from "./splitting.ts";

export function arrowFileSource(engine: Engine, paths: readonly string[], options: CheckedReadOptions): Source {
  return fileSource("readArrow", paths, () => openFiles(engine, paths, options));
}

async function openFiles(engine: Engine, paths: readonly string[], options: CheckedReadOptions): Promise<OpenSource> {
  const listed = await listFiles(paths, "readArrow");
  const { files } = listed;
  const partitions = findPartitions(listed, options.schema, "readArrow");
  return new ArrowFileReader(engine, options, partitions, await columnsOf(engine, files, options));
}

interface FoundColumns {
  readonly columns: readonly Column[];
  /** The columns of each file by its path, without partitions; null if all files have the same columns. */
  readonly byFile: ReadonlyMap<string, readonly Column[]> | null;
}

async function columnsOf(
  engine: Engine,
  files: readonly SourceFile[],
  { unionByName, columns: wanted }: CheckedReadOptions,
): Promise<FoundColumns> {
  const { common, each } = await schemasOfFiles(files);
  if (common !== null) return { columns: columnsOfBatch({ schema: common }), byFile: null };
  const columns = new Map([...new Set(each)].map((schema) => [schema, columnsOfBatch({ schema })]));
  const byFile = new Map(
    files.map((file, i) => {
      const schema = each[i];
      return [file.path, schema === undefined ? [] : (columns.get(schema) ?? [])];
    }),
  );
  const named = files.map((file) => ({ file, names: (byFile.get(file.path) ?? []).map(({ name }) => name) }));
  const all = namesOfAll("readArrow", named, unionByName, wanted);
  const has = (own: readonly Column[], name: string) =>
    own.some((column) => foldedName(column.name) === foldedName(name));
  const names = unionByName ? all : all.filter((name) => [...columns.values()].every((own) => has(own, name)));
  return { columns: await inCommonTypes(engine, names, [...columns.values()]), byFile };
}

class ArrowFileReader implements OpenSource {
  readonly columns: readonly Column[];
  readonly partitionColumns: readonly string[];
  readonly prunes = false;
  readonly samples = false;
  readonly #own: readonly Column[];
  readonly #plain: boolean;

  constructor(
    private readonly engine: Engine,
    private readonly options: CheckedReadOptions,
    private readonly partitions: Partitions,
    private readonly found: FoundColumns,
  ) {
    const partitioned = new Set(partitions.columns.map(({ name }) => name));
    this.#own = found.columns.filter(({ name }) => !partitioned.has(name));
    const declared = Object.keys(options.schema).filter((name) => !partitioned.has(name));
    const missing = declared.find((name) => !this.#own.some((column) => column.name === name));
    if (missing !== undefined) {
      const [first] = partitions.files;
      throw new SourceError(
        `readArrow: the schema names "${missing}", which ${first?.shown} does not have. Its columns: ${found.columns.map(({ name }) => name).join(", ")}.`,
        first?.path ?? "",
      );
    }
    this.#plain =
      found.byFile === null && partitions.columns.length === 0 && !options.includePaths && declared.length === 0;
    const path = options.includePaths ? [{ name: "path", type: "VARCHAR" }] : [];
    this.columns = [
      ...this.#own.map(({ name, type }) => ({ name, type: options.schema[name] ?? type })),
      ...path,
      ...partitions.columns,
    ];
    this.partitionColumns = partitions.columns.map(({ name }) => name);
  }

  async countRows(): Promise<null> {
    return null;
  }

  async splits({ filters, limit, since }: ScanRequest): Promise<ScanSplits> {
    const all = this.partitions.files.length;
    const files = limit === 0 ? [] : await prunePartitions(this.partitions, filters, this.engine);
    checkUnchanged({ ...this.partitions, files }, since, "readArrow");
    const skipped = { ...nothingSkipped, files: all - files.length };
    const notes = files.length === all ? [] : [`partitions leave ${files.length} of ${all} files to be read`];
    if (this.#plain || files.length === 0) return { splits: this.#cut(files, files), skipped, notes };
    const parts = this.#groups(files).map((group) => ({ splits: this.#cut(group, files), list: this.#list(group) }));
    return { splits: [], parts, skipped, notes };
  }

  async cut(): Promise<SourceCut> {
    const { files } = this.partitions;
    const bundles = bundled(files, this.#taskCount(files), (file) => file.bytes);
    return {
      sizes: bundles.map(bytesOf),
      stretch: (from, to) => {
        const { engine, options, partitions, found } = this;
        const kept = { ...partitions, files: bundles.slice(from, to).flat() };
        return new ArrowFileReader(engine, ofStretch(options, to - from), kept, found);
      },
    };
  }

  #taskCount(files: readonly PartitionedFile[]): number {
    const amount = { bytes: bytesOf(files), rows: null, pieces: files.length };
    return taskCount(amount, this.options.overrideNumBlocks, this.engine.settings);
  }

  /** How many tasks a group gets: its share of the tasks for all files. */
  #cut(group: readonly PartitionedFile[], all: readonly PartitionedFile[]): readonly Split[] {
    const share = Math.ceil((this.#taskCount(all) * bytesOf(group)) / Math.max(1, bytesOf(all)));
    return bundled(group, Math.max(1, share), (file) => file.bytes).map(
      (bundle): Split => ({
        kind: "arrow",
        files: bundle.map((file) => file.path),
      }),
    );
  }

  /** Neighbouring files that are read in the same way. Rows must come in the order of the files. */
  #groups(files: readonly PartitionedFile[]): readonly (readonly PartitionedFile[])[] {
    const groups: PartitionedFile[][] = [];
    let last: string | null = null;
    for (const file of files) {
      const own = this.found.byFile?.get(file.path) ?? null;
      // A file whose values may not fit is read alone, so that an error can name it.
      const isAlone = this.options.includePaths || this.#casts(file).some(canLose);
      const key = JSON.stringify([own, isAlone ? [file.path] : file.values]);
      if (key !== last) groups.push([]);
      groups.at(-1)?.push(file);
      last = key;
    }
    return groups;
  }

  /** How the columns of a file become the columns that are read. */
  #casts(file: PartitionedFile): readonly CastColumn[] {
    const own = typesOf(this.found.byFile?.get(file.path) ?? this.found.columns);
    return this.#own.flatMap(({ name, type: common }): readonly CastColumn[] => {
      const held = own.get(foldedName(name));
      const declared = this.options.schema[name];
      const type = declared ?? common;
      return held === undefined
        ? []
        : [{ operator: "readArrow", name, own: held, type, declared: declared !== undefined }];
    });
  }

  #list([file]: readonly PartitionedFile[]): string {
    const path = quoteText(file?.path ?? "");
    const casts = new Map(file === undefined ? [] : this.#casts(file).map((cast) => [cast.name, cast]));
    const own = this.#own.map(({ name, type: common }) => {
      const quoted = quoteIdentifier(name);
      const cast = casts.get(name);
      if (cast !== undefined && cast.own === cast.type) return quoted;
      const value =
        cast === undefined ? `CAST(NULL AS ${this.options.schema[name] ?? common})` : exactCastSql(quoted, cast, path);
      return `${value} AS ${quoted}`;
    });
    const paths = this.options.includePaths ? [`${path} AS path`] : [];
    return [...own, ...paths, ...partitionItems(this.partitions.columns, file?.values ?? [])].join(", ");
  }
}
