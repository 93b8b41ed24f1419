/**
 * Placeholders in a step's SQL for what only its task has: `{input}`, the tables `{t0}` and `{b0}`, the path of its
 * stream, the contents of its files, lists of columns (`{columns …}`). The same characters inside a text, a name or a
 * comment are the user's, and stay.
 */

/** The table that a step reads. */
export const INPUT = "{input}";
/** The path of the stream that a split reads. */
export const STREAM_PATH = "{stream}";
/** The path of the file that a task joined from its files. */
export const JOINED = "{joined}";
/** The table of the contents of a split's files. */
export const CONTENTS = "{contents}";

/** Found first, and left unchanged. */
const TEXTS = [
  /(?<![\w$])e'(?:[^'\\]|\\.|'')*(?:'|$)/, // with escapes
  /'[^']*(?:'|$)/,
  /"[^"]*(?:"|$)/,
  /--[^\r\n]*/,
  /\/\*.*?(?:\*\/|$)/,
  /(?<![\w$])\$([a-z_]\w*)?\$.*?(?:\$\1\$|$)/,
];
const PLACEHOLDER = /(\{(?:input|stream|joined|contents|[tb]\d+|columns \w+)\})/;
const PARTS = new RegExp([...TEXTS, PLACEHOLDER].map(({ source }) => source).join("|"), "gis");

/** `values` by placeholder, with its braces. A placeholder without a value stays. */
export function fillPlaceholders(sql: string, values: ReadonlyMap<string, string>): string {
  return sql.replace(PARTS, (part, _tag, placeholder: string | undefined) =>
    placeholder === undefined ? part : (values.get(placeholder) ?? part),
  );
}

/** The fed and broadcast tables that the SQL refers to. */
export function tablesIn(sql: string): ReadonlySet<string> {
  const found = [...sql.matchAll(PARTS)].map((match) => match[0]);
  return new Set(found.filter((part) => /^\{[tb]\d+\}$/.test(part)));
}

/** Tables as `{t0}`, `{t1}`, … or as `{b0}`, `{b1}`, … */
export function numberedTables(letter: "t" | "b", tables: readonly string[]): readonly (readonly [string, string])[] {
  return tables.map((table, index) => [`{${letter}${index}}`, table]);
}
