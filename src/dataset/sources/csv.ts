/**
 * CSV files. The dialect and the types are found once, in the first file that has any bytes, and then hold for all;
 * columns are matched by name where there is a header.
 */
import { OptionError, SourceError } from "../../errors/index.ts";
import { type Column, quoteIdentifier, quoteText, quoteTextList } from "../../plan/index.ts";
import type { Engine } from "../engine.ts";
import { checkKeys, describe, wholeNumber } from "../options.ts";
import type { SourceFile } from "./files.ts";
import { pathListSql, pathSql } from "./kernel-paths.ts";
import type { CheckedReadOptions } from "./options.ts";
import type { SqlFormat } from "./sql-files.ts";

export interface CsvOptions {
  /** Whether the first line names the columns. Default: found out. */
  readonly header?: boolean;
  /** Default: found out. */
  readonly delimiter?: string;
  readonly quote?: string;
  readonly escape?: string;
  /** Texts that mean null. Default: the empty text. */
  readonly nullValues?: string | readonly string[];
  /** Lines before the header to leave out. */
  readonly skip?: number;
  /** Lines that begin with this are left out. */
  readonly comment?: string;
  readonly dateFormat?: string;
  readonly timestampFormat?: string;
  /** Decimal separator: "." (default) or ",". */
  readonly decimal?: string;
  /** Leave out rows that cannot be read instead of failing. */
  readonly ignoreErrors?: boolean;
  /** Rows looked at to find the types; -1 for all. Default 20480. */
  readonly sampleSize?: number;
  /** Read every column as text. */
  readonly allText?: boolean;
  /** "gzip", "zstd", "none". Default: by the file's name. */
  readonly compression?: string;
}

export const csvOptionKeys = [
  "header",
  "delimiter",
  "quote",
  "escape",
  "nullValues",
  "skip",
  "comment",
  "dateFormat",
  "timestampFormat",
  "decimal",
  "ignoreErrors",
  "sampleSize",
  "allText",
  "compression",
] as const;

const textArguments = {
  delimiter: "delim",
  quote: "quote",
  escape: "escape",
  comment: "comment",
  dateFormat: "dateformat",
  timestampFormat: "timestampformat",
  decimal: "decimal_separator",
  compression: "compression",
} as const;
const flagArguments = { header: "header", ignoreErrors: "ignore_errors", allText: "all_varchar" } as const;

/** The options as arguments of the kernel's reader. */
export function csvArguments(options: CsvOptions): readonly string[] {
  checkKeys("readCsv", options, csvOptionKeys);
  const args: string[] = [];
  for (const [name, argument] of Object.entries(textArguments)) {
    const value: unknown = Reflect.get(options, name);
    if (value === undefined) continue;
    if (typeof value !== "string") throw new OptionError(`readCsv: ${name} is ${describe(value)}; it must be a text.`);
    args.push(`${argument}=${quoteText(value)}`);
  }
  for (const [name, argument] of Object.entries(flagArguments)) {
    const value: unknown = Reflect.get(options, name);
    if (value === undefined) continue;
    if (typeof value !== "boolean")
      throw new OptionError(`readCsv: ${name} is ${describe(value)}; it must be true or false.`);
    args.push(`${argument}=${value}`);
  }
  const { nullValues, skip, sampleSize } = options;
  if (nullValues !== undefined)
    args.push(`nullstr=${quoteTextList(typeof nullValues === "string" ? [nullValues] : nullValues)}`);
  if (skip !== undefined) args.push(`skip=${wholeNumber("readCsv", "skip", skip)}`);
  if (sampleSize !== undefined && sampleSize !== -1) wholeNumber("readCsv", "sampleSize", sampleSize);
  if (sampleSize !== undefined) args.push(`sample_size=${sampleSize}`);
  return args;
}

export function csvFormat(
  engine: Pick<Engine, "inspect">,
  args: readonly string[],
  { schema }: CheckedReadOptions,
  header: boolean | undefined,
): SqlFormat {
  /** Without a header the schema names the columns, in their order. */
  const positional = header === false && Object.keys(schema).length > 0;
  let dialect: readonly string[] = [];
  return {
    operator: "readCsv",
    async columns(files) {
      const declared = Object.entries(schema).map(([name, type]) => ({ name, type }));
      const sample = files.find((file) => file.bytes > 0);
      if (sample === undefined) return declared;
      const [found] = await engine.inspect(
        `SELECT Delimiter AS delim, Quote AS quote, Escape AS escape, HasHeader AS header, to_json(Columns) AS columns FROM sniff_csv(${[pathSql(sample.path), ...args].join(", ")})`,
      );
      if (found === undefined) throw new SourceError(`readCsv: ${sample.shown} is empty.`, sample.path);
      dialect = dialectOf(found, args);
      return positional ? declared : typed(parseColumns(String(found.columns)), schema, sample);
    },
    tableSql(files, columns, includePaths) {
      const list = pathListSql(files.filter((file) => file.bytes > 0));
      if (list === "[]") return emptyTable(columns, includePaths);
      const types = `{${columns.map(({ name, type }) => `${quoteText(name)}: ${quoteText(type)}`).join(", ")}}`;
      const path = includePaths ? ["filename='path'"] : [];
      const shape = positional ? `columns=${types}, auto_detect=false` : `types=${types}`;
      const table = `read_csv(${[list, ...args, ...dialect, shape, "hive_partitioning=false", ...path].join(", ")})`;
      // Files whose columns come in another order lose the types they are given (DuckDB 1.5): said once more.
      const items = columns.map(
        ({ name, type }) => `CAST(${quoteIdentifier(name)} AS ${type}) AS ${quoteIdentifier(name)}`,
      );
      return `(SELECT ${[...items, ...(includePaths ? ["path"] : [])].join(", ")} FROM ${table})`;
    },
  };
}

function dialectOf(found: Readonly<Record<string, unknown>>, args: readonly string[]): readonly string[] {
  const given = (name: string) => args.some((argument) => argument.startsWith(`${name}=`));
  const spelled = (name: string) => {
    const value = String(found[name] ?? "");
    return given(name) || value === "(empty)" || value === "" ? [] : [`${name}=${quoteText(value)}`];
  };
  const header = given("header") ? [] : [`header=${String(found.header)}`];
  return [...spelled("delim"), ...spelled("quote"), ...header];
}

function parseColumns(json: string): readonly Column[] {
  const parsed: unknown = JSON.parse(json);
  if (!Array.isArray(parsed)) throw new Error(`unexpected columns of a CSV file: ${json}`);
  return parsed.map((item: { readonly name: unknown; readonly type: unknown }) => ({
    name: String(item.name),
    type: String(item.type),
  }));
}

function typed(
  columns: readonly Column[],
  schema: Readonly<Record<string, string>>,
  file: SourceFile,
): readonly Column[] {
  const missing = Object.keys(schema).find(
    (name) => !columns.some((column) => column.name === name) && !file.shown.includes(`${name}=`),
  );
  if (missing !== undefined) {
    throw new SourceError(
      `readCsv: the schema names "${missing}", which ${file.shown} does not have. Its columns: ${columns.map(({ name }) => name).join(", ")}.`,
      file.path,
    );
  }
  return columns.map(({ name, type }) => ({ name, type: schema[name] ?? type }));
}

export function emptyTable(columns: readonly Column[], includePaths: boolean): string {
  const all = includePaths ? [...columns, { name: "path", type: "VARCHAR" }] : columns;
  const nulls = all.map(({ name, type }) => `CAST(NULL AS ${type}) AS ${quoteIdentifier(name)}`);
  return `(SELECT ${nulls.join(", ")} WHERE FALSE)`;
}
