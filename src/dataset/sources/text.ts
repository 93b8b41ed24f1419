/**
 * Text files, a row a line, in the column `text`, without the line's end. Small files are split in memory, where line ends
 * may even be mixed; large ones are streamed through the CSV reader with nothing to separate or quote.
 */
import type { SourceFile } from "./files.ts";
import { pathListSql } from "./kernel-paths.ts";
import type { SqlFormat } from "./sql-files.ts";

const STREAMED_FROM = 32 * 2 ** 20;
const LONGEST_LINE = 64 * 2 ** 20;

export const textFormat: SqlFormat = {
  operator: "readText",
  leavesOutRows: false,
  columns: async () => [{ name: "text", type: "VARCHAR" }],
  tableSql(files, _columns, includePaths) {
    const parts: string[] = [];
    let small: SourceFile[] = [];
    for (const file of files) {
      if (file.bytes < STREAMED_FROM) {
        small.push(file);
        continue;
      }
      if (small.length > 0) parts.push(splitInMemory(small, includePaths));
      small = [];
      parts.push(streamed(file, includePaths));
    }
    if (small.length > 0) parts.push(splitInMemory(small, includePaths));
    return `(${parts.join(" UNION ALL ")})`;
  },
};

function splitInMemory(files: readonly SourceFile[], includePaths: boolean): string {
  const whole = `SELECT filename, replace(content, chr(13) || chr(10), chr(10)) AS content FROM read_text(${pathListSql(files)})`;
  // The last line's end does not begin another line.
  const lines =
    "string_split(CASE WHEN suffix(content, chr(10)) THEN left(content, length(content) - 1) ELSE content END, chr(10))";
  const path = includePaths ? ", filename AS path" : "";
  return `(SELECT unnest(${lines}) AS "text"${path} FROM (${whole}) WHERE content <> '')`;
}

function streamed(file: SourceFile, includePaths: boolean): string {
  const options = [
    pathListSql([file]),
    "columns={'text': 'VARCHAR'}",
    "auto_detect=false",
    "header=false",
    "delim=''",
    "quote=''",
    "escape=''",
    "force_not_null=['text']",
    `max_line_size=${LONGEST_LINE}`,
    "hive_partitioning=false",
    ...(includePaths ? ["filename='path'"] : []),
  ];
  return `(SELECT * FROM read_csv(${options.join(", ")}))`;
}
