/**
 * Fixed-size lists in Parquet files. Parquet only has lists of any length, so they are written as such, with the sizes
 * in an entry next to the schema. (The kernel would write an array, with null arrays in a form that only it can read.
 * Arrow's own entry is not used, because pyarrow refuses null lists with it.)
 */
import { quoteIdentifier, quoteText, typeName } from "../../arrow/index.ts";
import type { Connection } from "../../kernel/index.ts";
import { LIST_SIZES } from "../../protocol/index.ts";

export interface SizedLists {
  readonly select: string;
  /** An option of COPY; null: no option is needed. */
  readonly entry: string | null;
}

/** `folders`: columns that the files do not contain. */
export function sizedLists(connection: Connection, select: string, folders: readonly string[]): SizedLists {
  const lists = connection
    .describe(select)
    .fields.flatMap(({ name, type }) => (type.kind === "fixedList" && !folders.includes(name) ? [{ name, type }] : []));
  if (lists.length === 0) return { select, entry: null };
  const casts = lists.map(({ name, type }) => {
    const column = quoteIdentifier(name);
    return `CAST(${column} AS ${typeName({ kind: "list", child: type.child, large: false })}) AS ${column}`;
  });
  const sizes = Object.fromEntries(lists.map(({ name, type }) => [name, type.size]));
  return {
    select: `SELECT * REPLACE (${casts.join(", ")}) FROM (${select})`,
    entry: `KV_METADATA {${quoteText(LIST_SIZES)}: ${quoteText(JSON.stringify(sizes))}}`,
  };
}
