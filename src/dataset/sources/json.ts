/**
 * JSON files: a value a line, or one array. Columns are found over a sample of all the files and then hold for every one;
 * a key that a row has not is null.
 */
import { OptionError, SourceError } from "../../errors/index.ts";
import { type Column, quoteIdentifier, quoteText } from "../../plan/index.ts";
import type { Engine } from "../engine.ts";
import { checkKeys, oneOf, wholeNumber } from "../options.ts";
import { emptyTable } from "./csv.ts";
import { valueSql } from "./csv-types.ts";
import type { SourceFile } from "./files.ts";
import { jsonColumns } from "./json-columns.ts";
import { checkKeyNames, exactTypes, isChecked, objectsSql } from "./json-types.ts";
import { pathListSql } from "./kernel-paths.ts";
import type { CheckedReadOptions } from "./options.ts";
import type { SqlFormat } from "./sql-files.ts";

export interface JsonOptions {
  /** "ndjson" (a value a line), "array", or found out by file. */
  readonly format?: "auto" | "ndjson" | "array";
  /**
   * Lines that cannot be read are left out instead of being an error (NDJSON only). A line that ends in the middle of a
   * value takes the next one with it.
   */
  readonly ignoreErrors?: boolean;
  /** Values looked at to find the columns; -1 for all. Default 20480. */
  readonly sampleSize?: number;
  /** The longest value in bytes. Default 16 MiB. */
  readonly maxObjectSize?: number;
  readonly dateFormat?: string;
  readonly timestampFormat?: string;
  readonly compression?: string;
}

export const jsonOptionKeys = [
  "format",
  "ignoreErrors",
  "sampleSize",
  "maxObjectSize",
  "dateFormat",
  "timestampFormat",
  "compression",
] as const;

const IGNORE_ERRORS = "ignore_errors=true";
const formats = { auto: "auto", ndjson: "newline_delimited", array: "array" } as const;

export function jsonArguments(options: JsonOptions): readonly string[] {
  checkKeys("readJson", options, jsonOptionKeys);
  const {
    format = "auto",
    ignoreErrors,
    sampleSize,
    maxObjectSize,
    dateFormat,
    timestampFormat,
    compression,
  } = options;
  const args = [`format='${formats[oneOf("readJson", "format", format, ["auto", "ndjson", "array"])]}'`];
  if (ignoreErrors !== undefined && typeof ignoreErrors !== "boolean") {
    throw new OptionError("readJson: ignoreErrors is true or false.");
  }
  if (ignoreErrors === true) args.push(IGNORE_ERRORS);
  if (sampleSize !== undefined && sampleSize !== -1) wholeNumber("readJson", "sampleSize", sampleSize);
  if (sampleSize !== undefined) args.push(`sample_size=${sampleSize}`);
  if (maxObjectSize !== undefined)
    args.push(`maximum_object_size=${wholeNumber("readJson", "maxObjectSize", maxObjectSize)}`);
  if (dateFormat !== undefined) args.push(`dateformat=${quoteText(dateFormat)}`);
  if (timestampFormat !== undefined) args.push(`timestampformat=${quoteText(timestampFormat)}`);
  // For JSON the kernel has another word for none than for CSV.
  if (compression !== undefined)
    args.push(`compression=${quoteText(compression === "none" ? "uncompressed" : compression)}`);
  return args;
}

const NO_FORMATS = { dateFormat: null, timestampFormat: null, decimal: null };

/** Texts in ways of the user's own are read by the kernel. */
function withFormats(args: readonly string[]): boolean {
  return args.some((argument) => /^(date|timestamp)format=/.test(argument));
}

export function jsonFormat(
  engine: Pick<Engine, "inspect">,
  args: readonly string[],
  { schema }: CheckedReadOptions,
): SqlFormat {
  return {
    operator: "readJson",
    leavesOutRows: args.includes(IGNORE_ERRORS),
    async columns(files) {
      const present = files.filter((file) => file.bytes > 0);
      if (present.length === 0) return Object.entries(schema).map(([name, type]) => ({ name, type }));
      const found = await jsonColumns(engine, present, args);
      // Values that are no objects come in one column of this name; so do objects with one key of this name.
      if (found.length === 1 && found[0]?.name === "json") await checkObjects(engine, present, args);
      await checkKeyNames(engine, present, args, found);
      const exact = withFormats(args) ? found : await exactTypes(engine, present, args, found);
      const names = new Set(found.map(({ name }) => name));
      const declared = Object.entries(schema).filter(([name]) => !names.has(name));
      return [
        ...exact.map(({ name, type }) => ({ name, type: schema[name] ?? type })),
        ...declared.map(([name, type]) => ({ name, type })),
      ];
    },
    tableSql(files, columns, includePaths) {
      const list = pathListSql(files.filter((file) => file.bytes > 0));
      if (list === "[]") return emptyTable(columns, includePaths);
      const path = includePaths ? ["filename='path'"] : [];
      if (args.includes(IGNORE_ERRORS)) return readableRows(list, args, columns, path);
      const isText = ({ type }: Column) => isChecked(type) && !withFormats(args);
      const types = columns.map(
        (each) => `${quoteText(each.name)}: ${quoteText(isText(each) ? "VARCHAR" : each.type)}`,
      );
      // Of one column the kernel would not know that it is one of objects, and look at the files again to find out.
      const shape = [`columns={${types.join(", ")}}`, "records=true", "hive_partitioning=false"];
      const table = `read_json(${[list, ...args, ...shape].join(", ")})`;
      const items = columns.map((each) => {
        const name = quoteIdentifier(each.name);
        if (!isText(each)) return name;
        const column = { ...each, declared: schema[each.name] !== undefined };
        const misfit = {
          operator: "readJson",
          column: each.name,
          index: 0,
          type: each.type,
          declared: column.declared,
        };
        return `${valueSql(name, column, NO_FORMATS, { ...misfit, dialect: null }, "filename")} AS ${name}`;
      });
      return `(SELECT ${[...items, ...(includePaths ? ["filename AS path"] : [])].join(", ")} FROM ${table})`;
    },
  };
}

/**
 * The kernel gives a row of nulls for a line that it cannot read, which `{}` is too. Read as one struct a line they differ:
 * only the former is null as a whole.
 */
function readableRows(
  list: string,
  args: readonly string[],
  columns: readonly Column[],
  path: readonly string[],
): string {
  const fields = columns.map(({ name, type }) => `${quoteIdentifier(name)} ${type}`).join(", ");
  const shape = [`columns={json: ${quoteText(`STRUCT(${fields})`)}}`, "records=false", "hive_partitioning=false"];
  const table = `read_json(${[list, ...args, ...shape, ...path].join(", ")})`;
  const items = columns.map(({ name }) => `struct_extract(json, ${quoteText(name)}) AS ${quoteIdentifier(name)}`);
  return `(SELECT ${[...items, ...path.map(() => "path")].join(", ")} FROM ${table} WHERE json IS NOT NULL)`;
}

async function checkObjects(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  args: readonly string[],
): Promise<void> {
  const [first] = await engine.inspect(
    `SELECT filename AS path, json_type(json) AS type FROM ${objectsSql(files, args, "filename=true")} WHERE json_type(json) <> 'OBJECT' LIMIT 1`,
  );
  if (first === undefined) return;
  throw new SourceError(
    `readJson: ${String(first.path)} has a value that is no object (${String(first.type)}), so it has no columns. Rows are written as {"name": value}.`,
    String(first.path),
  );
}
