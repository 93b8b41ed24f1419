/**
 * The columns of Parquet files, from their footers: the columns of the first file or of all files, in types that hold
 * the values of all files, and the columns of each file.
 */
import { foldedName, quoteIdentifier } from "../../arrow/index.ts";
import type { Column } from "../../plan/index.ts";
import type { InspectedRow } from "../../protocol/index.ts";
import type { Engine } from "../engine.ts";
import { namesOfAll } from "./differing.ts";
import type { SourceFile } from "./files.ts";
import { inspectFiles } from "./kept-facts.ts";
import { pathListSql, pathSql } from "./kernel-paths.ts";
import type { CheckedReadOptions } from "./options.ts";
import { type Footers, footersOf } from "./parquet-footers.ts";
import { withSizes } from "./parquet-sizes.ts";
import type { RowGroup } from "./row-groups.ts";

export interface FileSchemas {
  /**
   * The columns of the first file, or of all files. A column that some file lacks is left out unless it was asked for.
   */
  readonly columns: readonly Column[];
  /** Every file has exactly these columns. */
  readonly uniform: boolean;
  /** All row groups, if they were found on the way; otherwise null. */
  readonly groups: readonly RowGroup[] | null;
  /** The type of a column in a file; null when the file has no column of that name. */
  typeIn(path: string, name: string): string | null;
}

const FILES_PER_QUERY = 512;

export async function schemasOf(
  engine: Engine,
  files: readonly SourceFile[],
  { columns: wanted, unionByName }: Pick<CheckedReadOptions, "columns" | "unionByName">,
): Promise<FileSchemas> {
  const footers = await footersOf(engine, files);
  const groups = footers?.groups ?? null;
  const shapes = footers === null ? await shapesOf(engine, files) : await shapesBy(engine, files, footers);
  const examples = new Map<string, SourceFile>();
  for (const file of files) {
    const shape = shapes.get(file.path) ?? "";
    if (!examples.has(shape)) examples.set(shape, file);
  }
  const described = new Map<string, readonly Column[]>();
  for (const [shape, file] of examples) described.set(shape, await describeFile(engine, file));
  const [first = []] = described.values();
  const types = typesOf(first);
  if (examples.size <= 1) {
    const columns = await withSizes(engine, files, first);
    return { columns, uniform: true, groups, typeIn: (_, name) => types.get(foldedName(name)) ?? null };
  }
  const named = [...examples].map(([shape, file]) => ({
    file,
    names: (described.get(shape) ?? []).map(({ name }) => name),
  }));
  const all = namesOfAll("readParquet", named, unionByName, wanted);
  const known = new Map([...described].map(([shape, own]) => [shape, typesOf(own)]));
  const everywhere = (name: string) => [...known.values()].every((own) => own.has(foldedName(name)));
  const names = unionByName ? all : all.filter(everywhere);
  return {
    columns: await inCommonTypes(engine, names, [...described.values()]),
    uniform: false,
    groups,
    typeIn: (path, name) => known.get(shapes.get(path) ?? "")?.get(foldedName(name)) ?? null,
  };
}

export function typesOf(columns: readonly Column[]): ReadonlyMap<string, string> {
  return new Map(columns.map(({ name, type }) => [foldedName(name), type]));
}

/** Asks about only one of the files with the same schema. */
async function shapesBy(
  engine: Engine,
  files: readonly SourceFile[],
  { examples }: Footers,
): Promise<ReadonlyMap<string, string>> {
  const shapes = await shapesOf(engine, [...new Set(examples.values())]);
  return new Map(files.map(({ path }) => [path, shapes.get(examples.get(path)?.path ?? "") ?? ""]));
}

/** A text for each file. Files with the same columns have the same text. */
async function shapesOf(engine: Engine, files: readonly SourceFile[]): Promise<ReadonlyMap<string, string>> {
  const bundles: (readonly SourceFile[])[] = [];
  for (let at = 0; at < files.length; at += FILES_PER_QUERY) bundles.push(files.slice(at, at + FILES_PER_QUERY));
  // All workers are asked at once.
  const answers = await Promise.all(
    bundles.map((some) =>
      inspectFiles(
        engine,
        some,
        `SELECT file_name, md5(string_agg(concat_ws('|', name, type, type_length, num_children, converted_type, scale, "precision", logical_type), '/')) AS shape FROM parquet_schema(${pathListSql(some)}) GROUP BY file_name`,
      ),
    ),
  );
  const shapes = new Map<string, string>();
  for (const { file_name, shape } of answers.flat()) shapes.set(String(file_name), String(shape));
  return shapes;
}

/**
 * Types that hold the values of all files: reading the DOUBLE of one file as the BIGINT of another would round it
 * silently.
 */
export async function inCommonTypes(
  engine: Pick<Engine, "inspect">,
  names: readonly string[],
  shapes: readonly (readonly Column[])[],
): Promise<readonly Column[]> {
  if (names.length === 0) return [];
  const selects = shapes.map((shape) => {
    const types = typesOf(shape);
    const items = names.map((name) => {
      const own = types.get(foldedName(name));
      return `${own === undefined ? "NULL" : `CAST(NULL AS ${own})`} AS ${quoteIdentifier(name)}`;
    });
    return `SELECT ${items.join(", ")}`;
  });
  return described(await engine.inspect(`DESCRIBE ${selects.join(" UNION ALL ")}`));
}

async function describeFile(engine: Engine, file: SourceFile): Promise<readonly Column[]> {
  const sql = `DESCRIBE SELECT * FROM read_parquet([${pathSql(file.path)}], hive_partitioning=false)`;
  const rows = await inspectFiles(engine, [file], sql);
  return described(rows);
}

function described(rows: readonly InspectedRow[]): readonly Column[] {
  return rows.map((row) => ({ name: String(row.column_name), type: String(row.column_type) }));
}
