/**
 * CSV files. The kernel cuts them into texts; what the texts are is found over all the files, and made of them by SQL
 * that loses nothing (`csv-types.ts`).
 */
import { foldedName, quoteIdentifier, quoteText, quoteTextList } from "../../arrow/index.ts";
import { OptionError, SourceError } from "../../errors/index.ts";
import type { Column } from "../../plan/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import { packingOf } from "../../text/index.ts";
import type { Engine } from "../engine.ts";
import { checkKeys, describe, oneOf, only, positiveInteger, wholeNumber } from "../options.ts";
import { cutCsv } from "./csv-cuts.ts";
import {
  ALL_TEXTS,
  type CsvFiles,
  type CsvSettings,
  type CsvShape,
  EMPTY_IS_NULL,
  lookAtCsv,
  textTable,
} from "./csv-files.ts";
import { isPacked } from "./csv-heads.ts";
import { csvProof, fieldProof } from "./csv-proofs.ts";
import { castSql, readableSql, valueSql } from "./csv-types.ts";
import { namesOfAll } from "./differing.ts";
import type { SourceFile } from "./files.ts";
import { partStream, pathListSql } from "./kernel-paths.ts";
import type { CheckedReadOptions } from "./options.ts";
import type { SqlFormat, TaskSlot } from "./sql-files.ts";

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
  /**
   * Rows looked at in a file to find the types; -1 for all rows of all files. Default: 65536 in all, 20480 of one file.
   */
  readonly sampleSize?: number;
  /**
   * The longest line in bytes, for files that have a few very long ones. Default: 32 MB in files below that, else as
   * seen.
   */
  readonly maxLineSize?: number;
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
  "maxLineSize",
  "allText",
  "compression",
] as const;

const textOptions = [
  "delimiter",
  "quote",
  "escape",
  "comment",
  "dateFormat",
  "timestampFormat",
  "decimal",
  "compression",
] as const;
const flagOptions = ["header", "ignoreErrors", "allText"] as const;
/** The options, checked. */
export function csvSettings(options: CsvOptions): CsvSettings {
  checkKeys("readCsv", options, csvOptionKeys);
  for (const name of textOptions) {
    const value: unknown = options[name];
    if (value !== undefined && typeof value !== "string")
      throw new OptionError(`readCsv: ${name} is ${describe(value)}; it must be a text.`);
  }
  for (const name of flagOptions) {
    const value: unknown = options[name];
    if (value !== undefined && typeof value !== "boolean")
      throw new OptionError(`readCsv: ${name} is ${describe(value)}; it must be true or false.`);
  }
  const { nullValues, skip, sampleSize, maxLineSize, decimal } = options;
  if (sampleSize !== undefined && sampleSize !== -1) wholeNumber("readCsv", "sampleSize", sampleSize);
  if (decimal !== undefined) oneOf("readCsv", "decimal", decimal, [".", ","]);
  for (const name of ["quote", "escape"] as const) oneCharacter(name, options[name]);
  return {
    given: {
      ...only(options, ["delimiter", "quote", "escape", "comment"]),
      skip: skip === undefined ? 0 : wholeNumber("readCsv", "skip", skip),
    },
    header: options.header ?? null,
    dateFormat: options.dateFormat ?? null,
    timestampFormat: options.timestampFormat ?? null,
    decimal: decimal ?? null,
    sampleSize: sampleSize ?? null,
    allText: options.allText === true,
    ignoreErrors: options.ignoreErrors === true,
    compression: options.compression ?? null,
    // By default an empty field is null and a quoted one is the empty text, which is how both are written.
    args:
      nullValues === undefined
        ? [EMPTY_IS_NULL]
        : [`nullstr=${quoteTextList(typeof nullValues === "string" ? [nullValues] : nullValues)}`],
    maxLineSize: maxLineSize === undefined ? null : positiveInteger("readCsv", "maxLineSize", maxLineSize),
  };
}

/** The kernel tells them apart by a byte. */
function oneCharacter(name: "quote" | "escape", value: string | undefined): void {
  if (value === undefined || Buffer.byteLength(value) <= 1) return;
  throw new OptionError(`readCsv: ${name} is ${describe(value)}; it must be one ASCII character, or "" for none.`);
}

export function csvFormat(
  engine: Pick<Engine, "inspect">,
  settings: CsvSettings,
  options: CheckedReadOptions,
): SqlFormat {
  const { schema } = options;
  let shapes: CsvFiles["shapes"] = new Map();
  return {
    operator: "readCsv",
    leavesOutRows: settings.ignoreErrors,
    async columns(files, partitioned) {
      const declared = Object.keys(schema).filter((name) => !partitioned.includes(name));
      // Without a header the schema names the columns, in their order, and may name those of the folders too.
      const positional = settings.header === false ? [declared, Object.keys(schema)] : [];
      const found = await lookAtCsv(engine, files, settings, positional);
      shapes = found.shapes;
      const named = files.flatMap((file) => {
        const shape = shapes.get(file.path);
        return shape === undefined ? [] : [{ file, names: shape.names }];
      });
      const [first] = named;
      if (first === undefined) return declared.map((name) => ({ name, type: schema[name] ?? "VARCHAR" }));
      const names = namesOfAll("readCsv", named, options.unionByName, options.columns);
      checkDeclared(names, declared, first.file);
      return names.map((name) => ({ name, type: schema[name] ?? found.types.get(foldedName(name)) ?? "VARCHAR" }));
    },
    isStream: ({ part }) => part !== undefined,
    packing: ({ path }) => packingOf(path, settings.compression),
    async cuts(file, points) {
      const shape = shapes.get(file.path);
      // Rows that cannot be read are left out only by whoever reads all that is before them.
      if (shape === undefined || settings.ignoreErrors || isPacked(file, settings.compression)) return [];
      return cutCsv(file, shape, points);
    },
    proof(files, columns) {
      const [group, ...others] = sameShape(files, shapes);
      if (group === undefined || others.length > 0) return null;
      return csvProof(group[1], group[0], columns, settings);
    },
    tableSql(files, columns, includePaths, slot, proved) {
      const parts = sameShape(files, shapes).map(([shape, group]) =>
        partSql(group, shape, columns, settings, schema, includePaths, slot, proved),
      );
      if (parts.length === 0) return emptyTable(columns, includePaths);
      return `(${parts.join(" UNION ALL ")})`;
    },
  };
}

/** Neighbours that are read alike; files without a record are left out. */
function sameShape(
  files: readonly SourceFile[],
  shapes: CsvFiles["shapes"],
): readonly (readonly [CsvShape, readonly SourceFile[]])[] {
  const groups: [CsvShape, SourceFile[]][] = [];
  for (const file of files) {
    const shape = shapes.get(file.path);
    if (shape === undefined) continue;
    const last = groups.at(-1);
    if (last?.[0] === shape && file.part === undefined && last[1].at(-1)?.part === undefined) last[1].push(file);
    else groups.push([shape, [file]]);
  }
  return groups;
}

function partSql(
  files: readonly SourceFile[],
  shape: CsvShape,
  columns: readonly Column[],
  settings: CsvSettings,
  schema: Readonly<Record<string, string>>,
  includePaths: boolean,
  slot: TaskSlot,
  proved: boolean,
): string {
  const [first, ...others] = files;
  // The kernel's column costs a twentieth of all the reading, and only an error of several files needs it.
  const file = first === undefined || others.length > 0 ? "filename" : quoteText(first.path);
  const places = new Map(shape.names.map((name, index) => [foldedName(name), index]));
  const conditions: string[] = [];
  const casts: string[] = [];
  const types = new Map(ALL_TEXTS);
  const items = columns.map(({ name, type }) => {
    const index = places.get(foldedName(name));
    if (index === undefined) return `CAST(NULL AS ${type}) AS ${quoteIdentifier(name)}`;
    if (proved && fieldProof(type, settings) !== null) {
      types.set(index, type);
      return `c${index} AS ${quoteIdentifier(name)}`;
    }
    const declared = schema[name] !== undefined;
    const column = { name, type, declared };
    const readable = settings.ignoreErrors ? readableSql(`c${index}`, column, settings) : null;
    if (readable !== null) conditions.push(readable);
    const misfit = { operator: "readCsv", column: name, index, type, declared, dialect: shape.dialect };
    const cast = castSql(`c${index}`, column, settings);
    if (cast !== null) casts.push(`${cast} AS v${index}`);
    const made = cast === null ? null : `v${index}`;
    return `${valueSql(`c${index}`, column, settings, misfit, file, made)} AS ${quoteIdentifier(name)}`;
  });
  if (includePaths) items.push(`${file} AS path`);
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  const texts =
    first?.part === undefined
      ? textTable(pathListSql(files), shape, settings, false, types)
      : textTable(slot.take(partStream(first)), partShape(shape, first.part.start), settings, false, types);
  const table = casts.length === 0 ? texts : `(SELECT *, filename, ${casts.join(", ")} FROM ${texts})`;
  return `SELECT ${items.join(", ")} FROM ${table}${where}`;
}

/** What is above the first row is in the first part. */
function partShape(shape: CsvShape, start: Bytes): CsvShape {
  return start === 0 ? shape : { ...shape, header: false, dialect: { ...shape.dialect, above: 0, skip: 0 } };
}

function checkDeclared(names: readonly string[], declared: readonly string[], file: SourceFile): void {
  const missing = declared.find((name) => !names.includes(name));
  if (missing === undefined) return;
  throw new SourceError(
    `readCsv: the schema names "${missing}", which ${file.shown} does not have. Its columns: ${names.join(", ")}.`,
    file.path,
  );
}

export function emptyTable(columns: readonly Column[], includePaths: boolean): string {
  const all = includePaths ? [...columns, { name: "path", type: "VARCHAR" }] : columns;
  const nulls = all.map(({ name, type }) => `CAST(NULL AS ${type}) AS ${quoteIdentifier(name)}`);
  // What names no column is no SQL.
  return `(SELECT ${nulls.length === 0 ? "NULL AS __spillway_nothing" : nulls.join(", ")} WHERE FALSE)`;
}
