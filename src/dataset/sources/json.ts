/**
 * JSON files: one value a line, or one array. The columns are found in a sample of all files and hold for every file. A
 * key that a row lacks is null.
 */
import { open } from "node:fs/promises";
import { quoteText } from "../../arrow/index.ts";
import { OptionError, SourceError } from "../../errors/index.ts";
import { JOINED } from "../../protocol/index.ts";
import { cutAtLines, packingOf } from "../../text/index.ts";
import type { Engine } from "../engine.ts";
import { checkKeys, oneOf, wholeNumber } from "../options.ts";
import { emptyTable } from "./csv.ts";
import { isPacked } from "./csv-heads.ts";
import type { SourceFile } from "./files.ts";
import { jsonColumns } from "./json-columns.ts";
import { areJoinable, asLines, formatArgument } from "./json-lines.ts";
import { FILE_COLUMN, isReadOnce, type JsonSettings, type JsonSource, jsonTable, WITH_FILE } from "./json-table.ts";
import { checkKeyNames, exactTypes, objectsSql } from "./json-types.ts";
import { partStream, pathListSql } from "./kernel-paths.ts";
import type { CheckedReadOptions } from "./options.ts";
import type { SqlFormat, TaskSlot } from "./sql-files.ts";

export interface JsonOptions {
  /** "ndjson" (one value a line), "array", or detected for each file. */
  readonly format?: "auto" | "ndjson" | "array";
  /**
   * Skip lines that cannot be read, instead of failing (NDJSON only). A line that ends in the middle of a value also
   * costs the next line.
   */
  readonly ignoreErrors?: boolean;
  /** How many values are looked at to find the columns; -1 for all. Default 20480. */
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

export function jsonSettings(options: JsonOptions): JsonSettings {
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
  const args = [formatArgument(oneOf("readJson", "format", format, ["auto", "ndjson", "array"]))];
  if (ignoreErrors !== undefined && typeof ignoreErrors !== "boolean") {
    throw new OptionError("readJson: ignoreErrors must be true or false.");
  }
  if (ignoreErrors === true) args.push("ignore_errors=true");
  if (sampleSize !== undefined && sampleSize !== -1) wholeNumber("readJson", "sampleSize", sampleSize);
  if (sampleSize !== undefined) args.push(`sample_size=${sampleSize}`);
  if (maxObjectSize !== undefined)
    args.push(`maximum_object_size=${wholeNumber("readJson", "maxObjectSize", maxObjectSize)}`);
  if (dateFormat !== undefined) args.push(`dateformat=${quoteText(dateFormat)}`);
  if (timestampFormat !== undefined) args.push(`timestampformat=${quoteText(timestampFormat)}`);
  // The kernel's word for no compression differs between JSON and CSV.
  if (compression !== undefined)
    args.push(`compression=${quoteText(compression === "none" ? "uncompressed" : compression)}`);
  const formats = { dateFormat: dateFormat ?? null, timestampFormat: timestampFormat ?? null, decimal: null };
  return { args, formats, ignoreErrors: ignoreErrors === true, compression: compression ?? null };
}

export function jsonFormat(
  engine: Pick<Engine, "inspect">,
  settings: JsonSettings,
  { schema }: CheckedReadOptions,
): SqlFormat {
  const { args, formats } = settings;
  // If the user gave a date format, only the kernel can find the dates.
  const isPlain = formats.dateFormat === null && formats.timestampFormat === null;
  return {
    operator: "readJson",
    leavesOutRows: settings.ignoreErrors,
    async columns(files) {
      const present = files.filter((file) => file.bytes > 0);
      if (present.length === 0) return Object.entries(schema).map(([name, type]) => ({ name, type }));
      const found = await jsonColumns(engine, present, args);
      // The kernel names a column `json` if values are no objects. It does so, too, for objects without keys, or with a
      // single key of this name.
      if (found.length === 1 && found[0]?.name === "json") {
        await checkObjects(engine, present, args);
        if (!(await hasColumns(engine, present, args, Object.keys(schema).length > 0))) {
          return Object.entries(schema).map(([name, type]) => ({ name, type }));
        }
      }
      await checkKeyNames(engine, present, args, found);
      const exact = isPlain ? await exactTypes(engine, present, args, found) : found;
      const names = new Set(found.map(({ name }) => name));
      const declared = Object.entries(schema).filter(([name]) => !names.has(name));
      return [
        ...exact.map(({ name, type }) => ({ name, type: schema[name] ?? type })),
        ...declared.map(([name, type]) => ({ name, type })),
      ];
    },
    isStream: ({ part }) => part !== undefined,
    packing: ({ path }) => packingOf(path, settings.compression),
    async cuts(file, points) {
      if (settings.ignoreErrors || !isReadOnce(schema) || isPacked(file, settings.compression)) return [];
      return (await isLines(file, args)) ? cutAtLines(file.path, file.bytes, points, "utf-8") : [];
    },
    joined(files, columns) {
      if (columns.length === 0 || settings.ignoreErrors || !isReadOnce(schema)) return null;
      if (!areJoinable(args) || files.some((file) => file.part !== undefined || isPacked(file, settings.compression)))
        return null;
      const source = { files: [], paths: JOINED, file: JOINED };
      return { kind: "json", sql: jsonTable(source, columns, { ...settings, args: asLines(args) }, schema, false) };
    },
    tableSql(files, columns, includePaths, slot) {
      // All files contain empty arrays only.
      if (columns.length === 0) return emptyTable(columns, includePaths);
      const tables = sourcesOf(files, slot).map((source) => {
        const own = source.files.some(({ part }) => part !== undefined)
          ? { ...settings, args: asLines(args) }
          : settings;
        return jsonTable(source, columns, own, schema, includePaths);
      });
      if (tables.length === 0) return emptyTable(columns, includePaths);
      return tables.length === 1 ? tables.join("") : `(${tables.map((table) => `FROM ${table}`).join(" UNION ALL ")})`;
    },
  };
}

/** Neighbouring whole files together, and each part of a file alone. Empty files are left out. */
function sourcesOf(files: readonly SourceFile[], slot: TaskSlot): readonly JsonSource[] {
  const groups: SourceFile[][] = [];
  for (const file of files) {
    if (file.bytes === 0) continue;
    const last = groups.at(-1);
    if (last === undefined || file.part !== undefined || last[0]?.part !== undefined) groups.push([file]);
    else last.push(file);
  }
  return groups.map((group) => {
    const [first] = group;
    if (first?.part === undefined) return { files: group, paths: pathListSql(group), file: FILE_COLUMN };
    return { files: group, paths: slot.take(partStream(first, "readJson")), file: quoteText(first.path) };
  });
}

const LONGEST_FIRST_LINE = 2 ** 20;

/** Whether a file has one value a line: as the user said, or as its first line looks. */
async function isLines({ path }: SourceFile, args: readonly string[]): Promise<boolean> {
  const [format] = args;
  if (format !== formatArgument("auto")) return format === formatArgument("ndjson");
  const handle = await open(path, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(LONGEST_FIRST_LINE), 0, LONGEST_FIRST_LINE, 0);
    const [line = "", next] = buffer.toString("utf8", 0, bytesRead).trimStart().split("\n", 2);
    return next !== undefined && typeof JSON.parse(line) === "object" && line.startsWith("{");
  } catch {
    return false;
  } finally {
    await handle.close();
  }
}

async function checkObjects(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  args: readonly string[],
): Promise<void> {
  const [first] = await engine.inspect(
    `SELECT ${FILE_COLUMN} AS path, json_type(json) AS type FROM ${objectsSql(files, args, WITH_FILE)} WHERE json_type(json) <> 'OBJECT' LIMIT 1`,
  );
  if (first === undefined) return;
  throw new SourceError(
    `readJson: ${String(first.path)} has a value that is not an object (${String(first.type)}), so it has no columns. Write rows as {"name": value}.`,
    String(first.path),
  );
}

/**
 * Whether there is a key called "json". If no value has any key, the declared columns are used; without them it is an
 * error.
 */
async function hasColumns(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  args: readonly string[],
  isDeclared: boolean,
): Promise<boolean> {
  const objects = objectsSql(files, args, "filename=true");
  const named = await engine.inspect(
    `SELECT 1 AS one FROM ${objects} WHERE list_contains(json_keys(json), 'json') LIMIT 1`,
  );
  if (named.length > 0) return true;
  const [row] = isDeclared ? [] : await engine.inspect(`SELECT filename AS path FROM ${objects} LIMIT 1`);
  if (row === undefined) return false;
  throw new SourceError(
    `readJson: ${String(row.path)} has objects without keys ({}), and no other object has a column. Declare the columns: schema: { name: "VARCHAR" }.`,
    String(row.path),
  );
}
