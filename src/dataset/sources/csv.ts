/**
 * CSV files. The kernel cuts them into texts. The types of the texts are found over all files, and SQL converts the
 * texts without losing anything (`csv-types.ts`).
 */
import { foldedName, quoteIdentifier, quoteText, quoteTextList } from "../../arrow/index.ts";
import { OptionError, SourceError } from "../../errors/index.ts";
import type { Column } from "../../plan/index.ts";
import { type Bytes, JOINED, type TextEncoding } from "../../protocol/index.ts";
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
import { DEFAULT_LIMITS, PROVED_LIMITS, refusedLine } from "./csv-lines.ts";
import { csvProof, fieldProof, isPlain } from "./csv-proofs.ts";
import { castSql, readableSql, valueSql } from "./csv-types.ts";
import { namesOfAll } from "./differing.ts";
import { ENCODINGS, encodingOf } from "./encodings.ts";
import type { SourceFile } from "./files.ts";
import { partStream, pathListSql } from "./kernel-paths.ts";
import type { CheckedReadOptions } from "./options.ts";
import type { SqlFormat, TaskSlot } from "./sql-files.ts";

export interface CsvOptions {
  /** Whether the first line names the columns. Default: detected. */
  readonly header?: boolean;
  /** Default: detected. */
  readonly delimiter?: string;
  readonly quote?: string;
  readonly escape?: string;
  /** Texts that mean null. Default: the empty text. */
  readonly nullValues?: string | readonly string[];
  /** How many lines before the header are skipped. */
  readonly skip?: number;
  /** Lines that begin with this are skipped. */
  readonly comment?: string;
  readonly dateFormat?: string;
  readonly timestampFormat?: string;
  /** Decimal separator: "." (default) or ",". */
  readonly decimal?: string;
  /** Skip rows that cannot be read, instead of failing. */
  readonly ignoreErrors?: boolean;
  /**
   * Rows of a file from which the types are found; -1 for all rows of all files. Default: 65536 of all files together,
   * 20480 of one file.
   */
  readonly sampleSize?: number;
  /**
   * The longest line in bytes, for files with a few very long lines. Default: 32 MB in files below that, otherwise
   * detected.
   */
  readonly maxLineSize?: number;
  /** Read every column as text. */
  readonly allText?: boolean;
  /** "gzip", "zstd", "none". Default: from the file's name. */
  readonly compression?: string;
  /** "utf-8" (default), "latin-1", "windows-1252", "utf-16le" or "utf-16be". */
  readonly encoding?: TextEncoding;
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
  "encoding",
] as const;

const textOptions = ["delimiter", "quote", "escape", "comment", "dateFormat", "timestampFormat", "decimal"] as const;
const PACKINGS = ["gzip", "zstd", "none"] as const;
const LONGEST_DELIMITER: Bytes = 4;
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
  const { nullValues, skip, sampleSize, maxLineSize, decimal, compression, encoding = "utf-8" } = options;
  if (sampleSize !== undefined && sampleSize !== -1) positiveInteger("readCsv", "sampleSize", sampleSize, ", or -1");
  if (decimal !== undefined) oneOf("readCsv", "decimal", decimal, [".", ","]);
  for (const name of ["quote", "escape"] as const) oneCharacter(name, options[name]);
  checkCharacters(options);
  const nulls = nullValues === undefined ? [] : typeof nullValues === "string" ? [nullValues] : nullValues;
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
    compression: compression === undefined ? null : oneOf("readCsv", "compression", compression, PACKINGS),
    encoding: encodingOf("readCsv", encoding, ENCODINGS),
    // By default an empty field is null, and a quoted empty field is the empty text: writers use the two in this way.
    args: nullValues === undefined ? [EMPTY_IS_NULL] : [`nullstr=${quoteTextList(nulls)}`],
    nullValues: nulls,
    maxLineSize: maxLineSize === undefined ? null : positiveInteger("readCsv", "maxLineSize", maxLineSize),
  };
}

/** The kernel takes one byte for each of these characters. */
function oneCharacter(name: "quote" | "escape", value: string | undefined): void {
  if (value === undefined || Buffer.byteLength(value) <= 1) return;
  throw new OptionError(`readCsv: ${name} is ${describe(value)}; it must be one ASCII character, or "" for none.`);
}

/** A field cannot end at what also opens a quote or a comment. */
function checkCharacters({ delimiter, quote, comment }: CsvOptions): void {
  if (delimiter !== undefined && Buffer.byteLength(delimiter) > LONGEST_DELIMITER)
    throw new OptionError(
      `readCsv: delimiter is ${describe(delimiter)}; it must be a text of at most ${LONGEST_DELIMITER} bytes.`,
    );
  const pairs = [
    ["delimiter", delimiter, "quote", quote],
    ["delimiter", delimiter, "comment", comment],
    ["quote", quote, "comment", comment],
  ] as const;
  for (const [name, value, other, also] of pairs) {
    if (!value || !also || !(value.includes(also) || also.includes(value))) continue;
    throw new OptionError(
      `readCsv: ${name} is ${describe(value)} and ${other} is ${describe(also)}: neither may be a part of the other. Give characters that differ.`,
    );
  }
}

export function csvFormat(
  engine: Pick<Engine, "inspect">,
  settings: CsvSettings,
  options: CheckedReadOptions,
): SqlFormat {
  const { schema } = options;
  let shapes: CsvFiles["shapes"] = new Map();
  /** Files in another encoding are streams, which are decoded before the kernel reads them. */
  const isDecoded = settings.encoding !== "utf-8";
  return {
    operator: "readCsv",
    leavesOutRows: settings.ignoreErrors,
    async columns(files, partitioned) {
      const declared = Object.keys(schema).filter((name) => !partitioned.includes(name));
      // Without a header the schema names the columns in order. It may also name those of the partition folders.
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
    isStream: (file) => isStream(file, settings),
    packing: ({ path }) => (isDecoded ? null : packingOf(path, settings.compression)),
    refusedLine: ({ path }) => refusedLine(shapes.get(path)?.lines ?? DEFAULT_LIMITS),
    async cuts(file, points) {
      const shape = shapes.get(file.path);
      // Only a reader that has read all rows before knows which rows to skip, so such a file is not cut.
      if (shape === undefined || settings.ignoreErrors || isDecoded || isPacked(file, settings.compression)) return [];
      return cutCsv(file, shape, points);
    },
    proof(files, columns) {
      const [group, ...others] = sameShape(files, shapes, settings);
      if (group === undefined || others.length > 0) return null;
      return csvProof(group[1], group[0], columns, settings);
    },
    joined(files, columns) {
      const present = files.filter(({ bytes }) => bytes > 0);
      const shape = shapes.get(present[0]?.path ?? "");
      if (shape === undefined || !present.every(({ path, part }) => part === undefined && shapes.get(path) === shape))
        return null;
      if (columns.length === 0 || !isPlain(shape.dialect, settings) || present.some((file) => isPacked(file, null)))
        return null;
      const own = { paths: JOINED, file: JOINED };
      const sql = `(${readSql(own, shape, shape, columns, settings, schema, false, false)})`;
      return { kind: "csv", header: shape.header, quote: shape.dialect.quote, sql };
    },
    tableSql(files, columns, includePaths, slot, proved) {
      const parts = sameShape(files, shapes, settings).map(([shape, group]) =>
        partSql(group, shape, columns, settings, schema, includePaths, slot, proved),
      );
      if (parts.length === 0) return emptyTable(columns, includePaths);
      return `(${parts.join(" UNION ALL ")})`;
    },
  };
}

function isStream({ part }: SourceFile, { encoding }: CsvSettings): boolean {
  return part !== undefined || encoding !== "utf-8";
}

/** A file as the kernel reads it, or a stream of a part or of decoded text. */
function streamSql(file: SourceFile, { lines }: CsvShape, settings: CsvSettings, slot: TaskSlot): string {
  const { encoding, compression, ignoreErrors } = settings;
  const packing = file.part === undefined ? packingOf(file.path, compression) : null;
  const refused = ignoreErrors ? {} : { refusedLine: refusedLine(lines) };
  return slot.take({ ...partStream(file, "readCsv"), encoding, packing, ...refused });
}

/** Neighbouring files that are read in the same way. Files without a record are left out. */
function sameShape(
  files: readonly SourceFile[],
  shapes: CsvFiles["shapes"],
  settings: CsvSettings,
): readonly (readonly [CsvShape, readonly SourceFile[]])[] {
  const groups: [CsvShape, SourceFile[]][] = [];
  for (const file of files) {
    const shape = shapes.get(file.path);
    if (shape === undefined) continue;
    const last = groups.at(-1);
    const isWithLast = last?.[0] === shape && ![file, ...last[1].slice(-1)].some((one) => isStream(one, settings));
    if (isWithLast) last[1].push(file);
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
  // The kernel's `filename` column costs a twentieth of the read. Only an error in one of several files needs it.
  const file = first === undefined || others.length > 0 ? "filename" : quoteText(first.path);
  const whole = proved ? { ...shape, lines: PROVED_LIMITS } : shape;
  const paths =
    first === undefined || !isStream(first, settings) ? pathListSql(files) : streamSql(first, shape, settings, slot);
  const read = first?.part === undefined ? whole : partShape(whole, first.part.start);
  return readSql({ paths, file }, shape, read, columns, settings, schema, includePaths, proved);
}

/** SQL for the values of files, a part of one, or joined files. `read`: their shape for the kernel's reader. */
function readSql(
  { paths, file }: { readonly paths: string; readonly file: string },
  shape: CsvShape,
  read: CsvShape,
  columns: readonly Column[],
  settings: CsvSettings,
  schema: Readonly<Record<string, string>>,
  includePaths: boolean,
  proved: boolean,
): string {
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
    const misfit = {
      operator: "readCsv",
      column: name,
      index,
      type,
      declared,
      dialect: shape.dialect,
      encoding: settings.encoding,
    };
    const cast = castSql(`c${index}`, column, settings);
    if (cast !== null) casts.push(`${cast} AS v${index}`);
    const made = cast === null ? null : `v${index}`;
    return `${valueSql(`c${index}`, column, settings, misfit, file, made)} AS ${quoteIdentifier(name)}`;
  });
  if (includePaths) items.push(`${file} AS path`);
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  const texts = textTable(paths, read, settings, false, types);
  const table = casts.length === 0 ? texts : `(SELECT *, filename, ${casts.join(", ")} FROM ${texts})`;
  return `SELECT ${items.join(", ")} FROM ${table}${where}`;
}

/** Lines above the first row belong to the first part. */
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
  // SQL needs at least one column.
  return `(SELECT ${nulls.length === 0 ? "NULL AS __spillway_nothing" : nulls.join(", ")} WHERE FALSE)`;
}
