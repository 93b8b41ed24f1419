/**
 * The columns of Parquet files, from their footers: those of the first, in types that hold what all the files have there,
 * and whether all the others have the same.
 */
import { SourceError } from "../../errors/index.ts";
import { type Column, quoteIdentifier } from "../../plan/index.ts";
import type { InspectedRow } from "../../protocol/index.ts";
import type { Engine } from "../engine.ts";
import type { SourceFile } from "./files.ts";
import { pathListSql, pathSql } from "./kernel-paths.ts";

export interface FileSchemas {
  /** Of the first file, which all the others are read as; those that not every file has are left out unless asked for. */
  readonly columns: readonly Column[];
  /** Every file has exactly these. */
  readonly uniform: boolean;
}

const FILES_PER_QUERY = 512;

export async function schemasOf(
  engine: Engine,
  files: readonly SourceFile[],
  wanted: readonly string[] | null,
): Promise<FileSchemas> {
  const examples = new Map<string, string>();
  for (let at = 0; at < files.length; at += FILES_PER_QUERY) {
    const list = pathListSql(files.slice(at, at + FILES_PER_QUERY));
    const shapes = await engine.inspect(
      `SELECT shape, min(file_name) AS example FROM (SELECT file_name, md5(string_agg(concat_ws('|', name, type, type_length, num_children, converted_type, scale, "precision", logical_type), '/')) AS shape FROM parquet_schema(${list}) GROUP BY file_name) GROUP BY shape`,
    );
    for (const { shape, example } of shapes)
      if (!examples.has(String(shape))) examples.set(String(shape), String(example));
  }
  const [first] = files;
  const columns = await describeFile(engine, first?.path ?? "");
  if (examples.size <= 1) return { columns, uniform: true };
  const shapes: (readonly Column[])[] = [];
  let shared = columns;
  for (const example of examples.values()) {
    const others = await describeFile(engine, example);
    shapes.push(others);
    const has = (name: string) => others.some((other) => other.name === name);
    const missing = columns.find(({ name }) => !has(name) && (wanted === null || wanted.includes(name)));
    if (missing !== undefined) {
      throw new SourceError(
        `readParquet: ${example} has no column "${missing.name}", which ${first?.shown} has. Read them apart and unite them, or name the columns that all have: { columns: […] }.`,
        example,
      );
    }
    shared = shared.filter(({ name }) => has(name));
  }
  return { columns: await inCommonTypes(engine, shared, shapes), uniform: false };
}

/** Reading a file's DOUBLE as another's BIGINT would round it silently. */
async function inCommonTypes(
  engine: Engine,
  columns: readonly Column[],
  shapes: readonly (readonly Column[])[],
): Promise<readonly Column[]> {
  if (columns.length === 0) return columns;
  const selects = shapes.map((shape) => {
    const items = columns.map(({ name, type }) => {
      const own = shape.find((column) => column.name === name)?.type ?? type;
      return `CAST(NULL AS ${own}) AS ${quoteIdentifier(name)}`;
    });
    return `SELECT ${items.join(", ")}`;
  });
  return described(await engine.inspect(`DESCRIBE ${selects.join(" UNION ALL ")}`));
}

async function describeFile(engine: Engine, path: string): Promise<readonly Column[]> {
  const rows = await engine.inspect(`DESCRIBE SELECT * FROM read_parquet([${pathSql(path)}], hive_partitioning=false)`);
  return described(rows);
}

function described(rows: readonly InspectedRow[]): readonly Column[] {
  return rows.map((row) => ({ name: String(row.column_name), type: String(row.column_type) }));
}
