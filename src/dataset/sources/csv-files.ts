/**
 * What CSV files contain: the dialect and the header of each file, and the types that fit all files. The columns come
 * from the beginning of every file. Types come from rows of some files only, spread over all files, because there may
 * be very many.
 */
import { foldedName, quoteIdentifier, quoteText } from "../../arrow/index.ts";
import type { Dialect, FoundDialect, GivenDialect } from "../../csv/index.ts";
import { SourceError } from "../../errors/index.ts";
import type { Bytes, TextEncoding } from "../../protocol/index.ts";
import type { Engine } from "../engine.ts";
import { decodedRows } from "./csv-decoded.ts";
import { dialectOf, headsOf, isPacked } from "./csv-heads.ts";
import { DEFAULT_LIMITS, type LineLimits, lineArguments, lineLimits } from "./csv-lines.ts";
import { ANY_KIND, type Kinds, kindsSql, type TextFormats, typeOfKinds } from "./csv-types.ts";
import type { SourceFile } from "./files.ts";
import { KeptFacts } from "./kept-facts.ts";
import { pathListSql } from "./kernel-paths.ts";

export interface CsvSettings extends TextFormats {
  readonly given: GivenDialect;
  /** Null: find out. */
  readonly header: boolean | null;
  /**
   * How many rows of a file are looked at; -1 for all rows of all files; null for a fixed number, shared by all files.
   */
  readonly sampleSize: number | null;
  readonly allText: boolean;
  readonly ignoreErrors: boolean;
  readonly compression: string | null;
  readonly encoding: TextEncoding;
  readonly nullValues: readonly string[];
  /** Further arguments of the kernel's reader. */
  readonly args: readonly string[];
  /** Null: find out from the files. */
  readonly maxLineSize: Bytes | null;
}

/** What files of the same kind have in common. */
export interface CsvShape {
  readonly dialect: Dialect;
  readonly header: boolean;
  /** One for each field, in order. */
  readonly names: readonly string[];
  readonly lines: LineLimits;
}

export interface CsvFiles {
  /** By path. A file without a record has none. */
  readonly shapes: ReadonlyMap<string, CsvShape>;
  /** By folded name. A column that is missing here is text. */
  readonly types: ReadonlyMap<string, string>;
}

const SAMPLED_FILES = 32;
const ROWS_OF_ALL = 65_536;
const ROWS_OF_ONE = 20_480;
const FEWEST_ROWS = 2_048;
/**
 * The kernel sets memory aside for every field, whatever the rows contain: so the fields of wide files are looked at in
 * groups.
 */
const FIELDS_AT_ONCE = 512;

interface Sampled {
  readonly file: SourceFile;
  readonly found: FoundDialect;
  /** Kinds of the first record, field by field. */
  readonly first: readonly Kinds[];
  /** Kinds of all other records. */
  readonly rest: readonly Kinds[];
}

const facts = new KeptFacts<CsvFiles>(({ shapes }) => shapes.size);

/**
 * `positional`: names in the order of the fields, for files without a header. The list with as many names as fields is
 * used.
 */
export function lookAtCsv(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  settings: CsvSettings,
  positional: readonly (readonly string[])[],
): Promise<CsvFiles> {
  const question = JSON.stringify([settings, positional, files.map(({ path }) => path)]);
  return facts.of(engine, files, question, () => find(engine, files, settings, positional));
}

async function find(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  settings: CsvSettings,
  positional: readonly (readonly string[])[],
): Promise<CsvFiles> {
  const present = files.filter((file) => file.bytes > 0);
  const heads = await headsOf(engine, present, settings);
  const dialects = new Map<SourceFile, FoundDialect>();
  let first: FoundDialect | null = null;
  for (const [i, file] of present.entries()) {
    const found = dialectOf(heads[i] ?? { text: "", isWhole: true }, settings.given, first);
    if (found === null) continue;
    first ??= found;
    dialects.set(file, found);
  }
  const limits = new Map<SourceFile, LineLimits>();
  for (const file of dialects.keys()) {
    limits.set(file, await lineLimits(file, settings.maxLineSize, isPacked(file, settings.compression)));
  }
  const samples = await sample(engine, dialects, limits, settings);
  const header = settings.header ?? hasHeader(samples);
  const shapes = new Map<string, CsvShape>();
  const known = new Map<string, CsvShape>();
  for (const [file, { dialect, records }] of dialects) {
    const fields = records[0]?.fields ?? [];
    const names = header ? headerNames(fields) : fieldNames(file, fields, positional);
    const shape = { dialect, header, names, lines: limits.get(file) ?? DEFAULT_LIMITS };
    const key = JSON.stringify(shape);
    const same = known.get(key) ?? shape;
    known.set(key, same);
    shapes.set(file.path, same);
  }
  return { shapes, types: settings.allText ? new Map() : typesOf(samples, shapes, header, settings) };
}

/** Names fields as the kernel does: trimmed, `column0` for an empty name, a number appended to a repeated one. */
function headerNames(fields: readonly string[]): readonly string[] {
  const taken = new Map<string, number>();
  return fields.map((field, i) => {
    const name = field.trim() === "" ? `column${i}` : field.trim();
    const before = taken.get(foldedName(name)) ?? 0;
    taken.set(foldedName(name), before + 1);
    return before === 0 ? name : `${name}_${before}`;
  });
}

function fieldNames(
  file: SourceFile,
  fields: readonly string[],
  positional: readonly (readonly string[])[],
): readonly string[] {
  const [given = []] = positional;
  if (given.length === 0) return fields.map((_, i) => `column${i}`);
  const names = positional.find(({ length }) => length === fields.length);
  if (names !== undefined) return names;
  throw new SourceError(
    `readCsv: the schema names ${given.length} columns, but the first row of ${file.shown} has ${fields.length} fields. Without a header, the schema must name every column, in order.`,
    file.path,
  );
}

async function sample(
  engine: Pick<Engine, "inspect">,
  dialects: ReadonlyMap<SourceFile, FoundDialect>,
  limits: ReadonlyMap<SourceFile, LineLimits>,
  settings: CsvSettings,
): Promise<readonly Sampled[]> {
  const { sampleSize } = settings;
  const all = [...dialects];
  const some = sampleSize === -1 ? all : spread(all, SAMPLED_FILES);
  const spreadRows = Math.max(FEWEST_ROWS, Math.min(ROWS_OF_ONE, Math.floor(ROWS_OF_ALL / Math.max(1, some.length))));
  const limit = sampleSize === -1 ? null : (sampleSize ?? spreadRows);
  return Promise.all(
    some.map(([file, found]) => sampleFile(engine, file, found, limits.get(file) ?? DEFAULT_LIMITS, settings, limit)),
  );
}

/** The first, the last, and evenly spaced ones between them. */
function spread<T>(items: readonly T[], count: number): readonly T[] {
  if (items.length <= count) return items;
  const step = (items.length - 1) / (count - 1);
  return Array.from({ length: count }, (_, i) => items[Math.round(i * step)]).filter((item) => item !== undefined);
}

async function sampleFile(
  engine: Pick<Engine, "inspect">,
  file: SourceFile,
  found: FoundDialect,
  lines: LineLimits,
  settings: CsvSettings,
  limit: number | null,
): Promise<Sampled> {
  const width = found.records[0]?.fields.length ?? 0;
  const names = Array.from({ length: width }, (_, i) => quoteIdentifier(`c${i}`));
  const first = names.map(() => ANY_KIND);
  const rest = names.map(() => ANY_KIND);
  for await (const { from, rows } of rowsSql(file, found, names, lines, settings, limit)) {
    const texts = `SELECT r, unnest(fields) AS x, generate_subscripts(fields, 1) AS i FROM (${rows})`;
    const answers = await engine.inspect(
      `SELECT i - 1 AS i, bit_and(CASE WHEN r = 1 THEN k ELSE ${ANY_KIND} END) AS first, bit_and(CASE WHEN r = 1 THEN ${ANY_KIND} ELSE k END) AS rest FROM (SELECT i, r, ${kindsSql("x", settings)} AS k FROM (${texts})) GROUP BY i`,
    );
    for (const answer of answers) {
      const at = from + Number(answer.i);
      first[at] = (first[at] ?? ANY_KIND) & Number(answer.first);
      rest[at] = (rest[at] ?? ANY_KIND) & Number(answer.rest);
    }
  }
  return { file, found, first, rest };
}

/** SQL for sampled rows: their number from 1 as `r`, and the texts of the fields from number `from` on as `fields`. */
async function* rowsSql(
  file: SourceFile,
  { dialect }: FoundDialect,
  names: readonly string[],
  lines: LineLimits,
  settings: CsvSettings,
  limit: number | null,
): AsyncGenerator<{ readonly from: number; readonly rows: string }> {
  const most = limit === null ? null : limit + 1;
  if (settings.encoding !== "utf-8") {
    for await (const rows of decodedRows(file, dialect, names.length, most, settings)) yield { from: 0, rows };
    return;
  }
  // A row that cannot be read is skipped here. The read itself reports it, with its line.
  const table = textTable(pathListSql([file]), { dialect, header: false, names, lines }, settings, true);
  for (let from = 0; from < names.length; from += FIELDS_AT_ONCE) {
    const fields = names.slice(from, from + FIELDS_AT_ONCE);
    const rows = `SELECT row_number() OVER () AS r, [${fields.join(", ")}] AS fields FROM ${table}${most === null ? "" : ` LIMIT ${most}`}`;
    yield { from, rows };
  }
}

/**
 * The first lines are headers if one of their fields does not have the type of the column below it, or if all columns
 * are text.
 */
function hasHeader(samples: readonly Sampled[]): boolean {
  const kinds = samples.flatMap(({ first, rest }) => first.map((own, i) => ({ own, below: rest[i] ?? ANY_KIND })));
  const typed = kinds.filter(({ below }) => below !== ANY_KIND && below !== 0);
  if (typed.length === 0) return kinds.every(({ own }) => own === 0 || own === ANY_KIND);
  return typed.some(({ own, below }) => (own & below) === 0);
}

function typesOf(
  samples: readonly Sampled[],
  shapes: ReadonlyMap<string, CsvShape>,
  header: boolean,
  formats: TextFormats,
): ReadonlyMap<string, string> {
  const kinds = new Map<string, Kinds>();
  for (const { file, first, rest } of samples) {
    for (const [i, name] of (shapes.get(file.path)?.names ?? []).entries()) {
      const own = (rest[i] ?? ANY_KIND) & (header ? ANY_KIND : (first[i] ?? ANY_KIND));
      const folded = foldedName(name);
      kinds.set(folded, (kinds.get(folded) ?? ANY_KIND) & own);
    }
  }
  const types = new Map<string, string>();
  for (const [name, own] of kinds) {
    const type = typeOfKinds(own, formats);
    if (type !== null) types.set(name, type);
  }
  return types;
}

/** An argument of the kernel's reader: an empty field is null, and a quoted empty field is the empty text. */
export const EMPTY_IS_NULL = "allow_quoted_nulls=false";
/** The types of `textTable`'s columns, if all are text. */
export const ALL_TEXTS: ReadonlyMap<number, string> = new Map();

/**
 * SQL that reads files of one shape into columns `c0`, `c1`, … and `filename`. All columns are text, except those in
 * `types`, by position: the kernel may convert these.
 */
export function textTable(
  /** SQL for one path or a list of them. */
  paths: string,
  { dialect, header, names, lines }: CsvShape,
  { args, compression, ignoreErrors, encoding }: CsvSettings,
  skipsBroken: boolean,
  types = ALL_TEXTS,
): string {
  const { delimiter, quote, comment, skip, mixedLineEnds } = dialect;
  const columns = names.map((_, i) => `'c${i}': '${types.get(i) ?? "VARCHAR"}'`).join(", ");
  const all = [
    paths,
    "auto_detect=false",
    `columns={${columns}}`,
    `delim=${quoteText(delimiter)}`,
    `quote=${quoteText(quote)}`,
    `escape=${quoteText(dialect.escape)}`,
    `header=${header}`,
    "hive_partitioning=false",
    ...lineArguments(lines),
    ...args,
  ];
  if (comment !== "") all.push(`comment=${quoteText(comment)}`);
  if (skip > 0) all.push(`skip=${skip}`);
  if (mixedLineEnds) all.push("strict_mode=false");
  // A stream is unpacked before the kernel reads it.
  if (compression !== null && encoding === "utf-8") all.push(`compression=${quoteText(compression)}`);
  if (ignoreErrors || skipsBroken) all.push("ignore_errors=true");
  return `read_csv(${all.join(", ")})`;
}
