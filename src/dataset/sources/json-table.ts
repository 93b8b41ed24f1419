/**
 * SQL that reads JSON files into columns. What the kernel would round or take for something else is read as text and
 * made a value by SQL that loses nothing (`csv-types.ts`). The kernel makes a double of every number that has a
 * fraction, be it read as text; for a DECIMAL the objects are therefore read as they stand in the file and their
 * numbers put into quotes.
 */
import { type DataType, parseTypeName, quoteIdentifier, quoteText, typeName } from "../../arrow/index.ts";
import type { Column } from "../../plan/index.ts";
import { readableSql, type TextFormats, valueSql } from "./csv-types.ts";
import type { SourceFile } from "./files.ts";
import { isChecked, objectsSql } from "./json-types.ts";

export interface JsonSettings {
  /** Of the kernel's `read_json`. */
  readonly args: readonly string[];
  readonly formats: TextFormats;
  readonly ignoreErrors: boolean;
  /** Null: by the names of the files. */
  readonly compression: string | null;
}

/** How one column is read. */
interface Reading {
  readonly name: string;
  /** What the kernel is asked for: text, or nested texts, where it is not to make the values. */
  readonly read: string;
  /** From numbers as they stand in the file. */
  readonly exact: boolean;
  /** The column's value, of SQL for what was read. */
  readonly value: (read: string) => string;
  /** Whether there is one; null: always. */
  readonly readable: (read: string) => string | null;
}

/** The column of a row's file: the kernel's own name for it may be a column's. */
export const FILE_COLUMN = quoteIdentifier("__spillway_file");
/** The argument of the kernel's readers that makes it. */
export const WITH_FILE = "filename='__spillway_file'";

/** Files, or a part of one, as the kernel is told of them. */
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

/** Whether the files are read once, row by row, into these types; else they are read more than once, or as a whole. */
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

/** Types with values that are no single text. */
const KERNELS_OWN = /\]$|^(STRUCT|MAP|UNION|JSON|VARIANT)\b/i;
/**
 * What whole numbers beyond 64 bits are found to be. The kernel takes a hundred times as long for texts as it does by
 * way of HUGEINT.
 */
const WHOLE_NUMBERS = "DECIMAL(38,0)";
const DECIMALS = /\b(DECIMAL|NUMERIC|DEC)\b/i;
/** Types that the kernel makes of other things than of the text, wherever they are. */
const TAKEN_APART = /\b(DECIMAL|NUMERIC|DEC|BLOB|BYTEA|BINARY|VARBINARY)\b/i;

/** Null: a type that only the kernel knows. */
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

/** The same shape, of texts. */
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
  // Of one column the kernel would not know that it is one of objects, and look at the files again to find out.
  const shape = [`columns={${types.join(", ")}}`, "records=true", "hive_partitioning=false", WITH_FILE];
  return `read_json(${[paths, ...args, ...shape].join(", ")})`;
}

/**
 * The kernel gives a row of nulls for a line that it cannot read, which `{}` is too. Read as one struct a line they
 * differ: only the former is null as a whole.
 */
function readableRows({ paths }: JsonSource, readings: readonly Reading[], { args }: JsonSettings): string {
  const fields = readings.map(({ name, read }) => `${quoteIdentifier(name)} ${read}`).join(", ");
  const shape = [`columns={json: ${quoteText(`STRUCT(${fields})`)}}`, "records=false", "hive_partitioning=false"];
  const table = `read_json(${[paths, ...args, ...shape, WITH_FILE].join(", ")})`;
  const items = readings.map(({ name }) => fieldSql("json", name));
  return `(SELECT ${[...items, FILE_COLUMN].join(", ")} FROM ${table} WHERE json IS NOT NULL)`;
}

/** Everything up to a number, texts as a whole, and the number; at the end of an object there is none. */
const NUMBERS = '((?:"(?:[^"\\\\]|\\\\.)*"|[^"0-9-]|-[^0-9])*)(?:(-?[0-9][0-9.eE+-]*)|$)';
/** An object whose numbers are texts; the end counts as an empty one, which is cut off. */
const QUOTED = `left(regexp_replace(CAST(json AS VARCHAR), ${quoteText(NUMBERS)}, '\\1"\\2"', 'gs'), -2)`;

/** Rows made of the objects as they stand in the file. */
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
 * True, or an error of the kernel's reader: what it makes of an object in hand is null where that has another shape.
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
