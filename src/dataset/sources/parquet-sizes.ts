/**
 * Sizes of fixed-size lists in Parquet files. Parquet only has lists of any length. An entry next to the schema says
 * which columns have a fixed size: our own entry, or the Arrow schema that pyarrow and Polars write.
 */
import { foldedName, quoteText, readSchemaMessage } from "../../arrow/index.ts";
import type { Column } from "../../plan/index.ts";
import { LIST_SIZES } from "../../protocol/index.ts";
import type { Engine } from "../engine.ts";
import type { SourceFile } from "./files.ts";
import { inspectFiles } from "./kept-facts.ts";
import { pathListSql } from "./kernel-paths.ts";

/** The columns of files of one shape. A list gets its size if all files agree on it. */
export async function withSizes(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  columns: readonly Column[],
): Promise<readonly Column[]> {
  if (!columns.some(({ type }) => type.endsWith("[]"))) return columns;
  const keys = [LIST_SIZES, "ARROW:schema"].map((key) => `${quoteText(key)}::BLOB`).join(", ");
  const rows = await inspectFiles(
    engine,
    files,
    `SELECT decode(key) AS key, decode(value) AS entry, count(*) AS files FROM parquet_kv_metadata(${pathListSql(files)}) WHERE key IN (${keys}) GROUP BY ALL`,
  );
  const common = rows.find((row) => Number(row.files) === files.length);
  if (common === undefined) return columns;
  const sizes = sizesIn(String(common.key), String(common.entry));
  return columns.map(({ name, type }) => {
    const size = sizes.get(foldedName(name));
    return { name, type: size === undefined ? type : type.replace(/\[\]$/, `[${size}]`) };
  });
}

/** By column. Empty if the entry is malformed: then the file's own types are used. */
function sizesIn(key: string, entry: string): ReadonlyMap<string, number> {
  try {
    if (key === LIST_SIZES) {
      const sizes: Record<string, unknown> = JSON.parse(entry);
      return new Map(Object.entries(sizes).map(([name, size]) => [foldedName(name), Number(size)]));
    }
    const { fields } = readSchemaMessage(Uint8Array.from(Buffer.from(entry, "base64")));
    return new Map(
      fields.flatMap(({ name, type }): [string, number][] =>
        type.kind === "fixedList" ? [[foldedName(name), type.size]] : [],
      ),
    );
  } catch {
    return new Map();
  }
}
