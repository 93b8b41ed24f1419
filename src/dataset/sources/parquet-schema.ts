/** The columns of Parquet files, from their footers: those of the first, and whether all the others have the same. */
import { SourceError } from "../../errors/index.ts";
import { type Column, quoteText, quoteTextList } from "../../plan/index.ts";
import type { Engine } from "../engine.ts";
import type { SourceFile } from "./files.ts";

export interface FileSchemas {
  /** Of the first file, which all the others are read as. */
  readonly columns: readonly Column[];
  /** Every file has exactly these. */
  readonly uniform: boolean;
}

const FILES_PER_QUERY = 512;

export async function schemasOf(engine: Engine, files: readonly SourceFile[]): Promise<FileSchemas> {
  const examples = new Map<string, string>();
  for (let at = 0; at < files.length; at += FILES_PER_QUERY) {
    const list = quoteTextList(files.slice(at, at + FILES_PER_QUERY).map((file) => file.path));
    const shapes = await engine.inspect(
      `SELECT shape, min(file_name) AS example FROM (SELECT file_name, md5(string_agg(concat_ws('|', name, type, type_length, num_children, converted_type, scale, "precision", logical_type), '/')) AS shape FROM parquet_schema(${list}) GROUP BY file_name) GROUP BY shape`,
    );
    for (const { shape, example } of shapes)
      if (!examples.has(String(shape))) examples.set(String(shape), String(example));
  }
  const [first] = files;
  const columns = await describeFile(engine, first?.path ?? "");
  let uniform = true;
  for (const example of examples.size > 1 ? examples.values() : []) {
    uniform = false;
    const others = await describeFile(engine, example);
    const missing = columns.find(({ name }) => !others.some((other) => other.name === name));
    if (missing !== undefined) {
      throw new SourceError(
        `readParquet: ${example} has no column "${missing.name}", which ${first?.shown} has. Read them apart and unite them, or name the columns that all have: { columns: […] }.`,
        example,
      );
    }
  }
  return { columns, uniform };
}

async function describeFile(engine: Engine, path: string): Promise<readonly Column[]> {
  const rows = await engine.inspect(
    `DESCRIBE SELECT * FROM read_parquet([${quoteText(path)}], hive_partitioning=false)`,
  );
  return rows.map((row) => ({ name: String(row.column_name), type: String(row.column_type) }));
}
