/**
 * SQL that reads JSON files into columns. A value that the kernel would round or misread is read as text and converted
 * by SQL that loses nothing (`csv-types.ts`). The kernel turns every number with a fraction into a double, even if it
 * is to be read as text. So for a DECIMAL the objects are read as they are written in the file, and their numbers are
 * put into quotes.
 */
import { type DataType, parseTypeName, quoteIdentifier, quoteText, typeName } from "../../arrow/index.ts";
import type { Column } from "../../plan/index.ts";
import { readableSql, type TextFormats, valueSql } from "./csv-types.ts";
import type { SourceFile } from "./files.ts";
import { isChecked, objectsSql } from "./json-types.ts";

export interface JsonSettings {
  /** Arguments of the kernel's `read_json`. */
  readonly args: readonly string[];
  readonly formats: TextFormats;
  readonly ignoreErrors: boolean;
  /** Null: from the names of the files. */
  readonly compression: string | null;
}

/** How one column is read. */
interface Reading {
  readonly name: string;
  /** The type that the kernel reads: text, or nested texts, if the kernel is not to convert the values. */
  readonly read: string;
  /** The value is made from the number as it is written in the file. */
  readonly exact: boolean;
  /** SQL for the column's value, given SQL for what was read. */
  readonly value: (read: string) => string;
  /** SQL that is true if the value can be read; null if every value can. */
  readonly readable: (read: string) => string | null;
}

/** The column with the path of a row's file. The kernel's own name for it could collide with a column of the file. */
export const FILE_COLUMN = quoteIdentifier("__spillway_file");
/** The argument of the kernel's readers that adds this column. */
export const WITH_FILE = "filename='__spillway_file'";

/** Files, or a part of one, as the kernel's readers get them. */
export interface JsonSource {
  readonly files: readonly SourceFile[];
  /** SQL for their paths, and for the path of a row's file. */
  readonly paths: string;
  readonly file: string;
}

export function jsonTable(
  source: JsonSource,
  columns: readonly Column[],
  settings: JsonSettings,
  schema: Readonly<Record<string, string>>,
  includePaths: boolean,
): string {
  const readings = columns.map((column) => readingOf(column, schema[column.name] !== undefined, settings, source.file));
  const rows = readings.some(({ exact }) => exact)
    ? writtenRows(source, readings, settings)
    : settings.ignoreErrors
      ? readableRows(source, readings, settings)
      : plainRows(source, readings, settings);
  const items = readings.map(({ name, value }) => `${value(quoteIdentifier(name))} AS ${quoteIdentifier(name)}`);
  if (includePaths) items.push(`${source.file} AS path`);
  const conditions = settings.ignoreErrors
    ? readings.flatMap(({ name, readable }) => readable(quoteIdentifier(name)) ?? [])
    : [];
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  return `(SELECT ${items.join(", ")} FROM ${rows}${where})`;
}

/**
 * Whether the files are read once, row by row, with these types; otherwise they are read more than once, or as a whole.
 */
export function isReadOnce(schema: Readonly<Record<string, string>>): boolean {
  return !Object.values(schema).some((type) => DECIMALS.test(type));
}

function readingOf(
  { name, type }: Column,
  declared: boolean,
  { formats, ignoreErrors }: JsonSettings,
  file: string,
): Reading {
  const asIs = { name, read: type, exact: false, value: (read: string) => read, readable: () => null };
  const exact = declared && DECIMALS.test(type);
  const parsed = parsedType(type);
  if (parsed !== null && isNested(parsed)) {
    if (!declared || !TAKEN_APART.test(type)) return asIs;
    const cast = ignoreErrors ? "TRY_CAST" : "CAST";
    return { ...asIs, read: textsOf(parsed), exact, value: (read) => `${cast}(${read} AS ${type})` };
  }
  if (declared ? KERNELS_OWN.test(type) : !isChecked(type) && type !== WHOLE_NUMBERS) return asIs;
  const isWhole = !declared && type === WHOLE_NUMBERS;
  const column = { name, type: isWhole ? "HUGEINT" : type, declared: declared || isWhole };
  const misfit = { operator: "readJson", column: name, index: 0, type, declared, dialect: "json" as const };
  const value = (read: string) => valueSql(read, column, formats, misfit, file);
  return {
    name,
    read: "VARCHAR",
    exact,
    value: (read) => (isWhole ? `CAST(${value(read)} AS ${type})` : value(read)),
    readable: (read) => readableSql(read, column, formats),
  };
}

/** Types whose values are more than a single text. */
const KERNELS_OWN = /\]$|^(STRUCT|MAP|UNION|JSON|VARIANT)\b/i;
/**
 * The type of columns with whole numbers beyond 64 bits. Their texts are converted by way of HUGEINT, because the
 * kernel takes a hundred times as long to convert a text to this type directly.
 */
const WHOLE_NUMBERS = "DECIMAL(38,0)";
const DECIMALS = /\b(DECIMAL|NUMERIC|DEC)\b/i;
/** Types, also inside of others, that the kernel does not convert from the text as it is written. */
const TAKEN_APART = /\b(DECIMAL|NUMERIC|DEC|BLOB|BYTEA|BINARY|VARBINARY)\b/i;

/** Null: only the kernel knows the type. */
function parsedType(type: string): DataType | null {
  try {
    return parseTypeName(type);
  } catch {
    return null;
  }
}

function isNested({ kind }: DataType): boolean {
  return kind === "struct" || kind === "list" || kind === "fixedList" || kind === "map";
}

/** The same nested type, with text in place of every plain type. */
function textsOf(type: DataType): string {
  return typeName(withTexts(type));
}

function withTexts(type: DataType): DataType {
  switch (type.kind) {
    case "struct":
      return { ...type, children: type.children.map((field) => ({ ...field, type: withTexts(field.type) })) };
    case "list":
    case "fixedList":
      return { ...type, child: { ...type.child, type: withTexts(type.child.type) } };
    case "map":
      return { ...type, key: { ...type.key, type: TEXT }, value: { ...type.value, type: withTexts(type.value.type) } };
    default:
      return TEXT;
  }
}

const TEXT: DataType = { kind: "utf8", large: false };

function plainRows({ paths }: JsonSource, readings: readonly Reading[], { args }: JsonSettings): string {
  const types = readings.map(({ name, read }) => `${quoteText(name)}: ${quoteText(read)}`);
  // If the kernel knew of one column only, it would not know that the values are objects, and would read the files
  // again to find out.
  const shape = [`columns={${types.join(", ")}}`, "records=true", "hive_partitioning=false", WITH_FILE];
  return `read_json(${[paths, ...args, ...shape].join(", ")})`;
}

/**
 * The kernel gives a row of nulls both for a line that it cannot read and for `{}`. Read as one struct a line, the two
 * differ: only a line that cannot be read is null as a whole.
 */
function readableRows({ paths }: JsonSource, readings: readonly Reading[], { args }: JsonSettings): string {
  const fields = readings.map(({ name, read }) => `${quoteIdentifier(name)} ${read}`).join(", ");
  const shape = [`columns={json: ${quoteText(`STRUCT(${fields})`)}}`, "records=false", "hive_partitioning=false"];
  const table = `read_json(${[paths, ...args, ...shape, WITH_FILE].join(", ")})`;
  const items = readings.map(({ name }) => fieldSql("json", name));
  return `(SELECT ${[...items, FILE_COLUMN].join(", ")} FROM ${table} WHERE json IS NOT NULL)`;
}

/**
 * Matches everything up to a number, with quoted texts skipped as a whole, and the number. At the end of an object the
 * number is empty.
 */
const NUMBERS = '((?:"(?:[^"\\\\]|\\\\.)*"|[^"0-9-]|-[^0-9])*)(?:(-?[0-9][0-9.eE+-]*)|$)';
/** An object whose numbers are quoted. The end of the object counts as an empty number, whose quotes are cut off. */
const QUOTED = `left(regexp_replace(CAST(json AS VARCHAR), ${quoteText(NUMBERS)}, '\\1"\\2"', 'gs'), -2)`;

/** Rows made from the objects as they are written in the file. */
function writtenRows(source: JsonSource, readings: readonly Reading[], settings: JsonSettings): string {
  const exact = readings.filter((each) => each.exact);
  const others = readings.filter((each) => !each.exact);
  const structs = [
    `json_transform(${QUOTED}, ${structureSql(exact)}) AS exact`,
    ...(others.length === 0 ? [] : [`json_transform(json, ${structureSql(others)}) AS plain`]),
  ];
  const objects = `(SELECT ${structs.join(", ")}, ${FILE_COLUMN} FROM ${objectsSql(source.files, settings.args, WITH_FILE)} WHERE json IS NOT NULL)`;
  const items = readings.map((each) => fieldSql(each.exact ? "exact" : "plain", each.name));
  const nested = settings.ignoreErrors ? [] : readings.filter(({ read }) => read !== "VARCHAR");
  const where = nested.length === 0 ? "" : ` WHERE ${shapeSql(source, nested, settings)}`;
  return `(SELECT ${[...items, FILE_COLUMN].join(", ")} FROM ${objects}${where})`;
}

/**
 * SQL that is true, or ends in an error of the kernel's reader. The reader is asked, because converting an object that
 * is already read gives null where it has another shape.
 */
function shapeSql(source: JsonSource, nested: readonly Reading[], settings: JsonSettings): string {
  const read = nested.map(({ name }) => quoteIdentifier(name)).join(", ");
  return `(SELECT count(*) FROM ${plainRows(source, nested, settings)} WHERE hash(${read}) IS NULL) = 0`;
}

function structureSql(readings: readonly Reading[]): string {
  return quoteText(JSON.stringify(Object.fromEntries(readings.map(({ name, read }) => [name, read]))));
}

function fieldSql(struct: string, name: string): string {
  return `struct_extract(${struct}, ${quoteText(name)}) AS ${quoteIdentifier(name)}`;
}
