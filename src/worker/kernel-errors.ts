/** Errors of the kernel in the user's words: which operator, which column, which file. */
import { statfsSync } from "node:fs";
import {
  fileFault,
  isKnownFault,
  KernelError,
  KernelMemoryError,
  SourceError,
  SpillError,
  type SpillwayError,
  UnknownColumnError,
  withoutOwnSql,
  ZipLengthError,
} from "../errors/index.ts";
import { OUT_OF_MEMORY } from "../kernel/index.ts";
import type { KernelLease } from "../protocol/index.ts";
import { badBytesError } from "../text/index.ts";
import { formatSize, nearest } from "../units/index.ts";

const UNKNOWN_COLUMN =
  /Referenced column "(.+?)" not found|does not have a column named "(.+?)"|Column "(.+?)" (?:referenced|in \w+ list) |expected to find (.+?), but it was not found in the table/;
const NO_LIST = /UNNEST\(\) can only be applied to lists, structs and NULL, not (.+)/;
const UNNESTED = /unnest\("((?:[^"]|"")*)"\)/;
const CANDIDATES = /Candidate bindings:\s*(.*)/;
/** Kinds of kernel errors about files that are not as expected. */
const FILE_KINDS = new Set([
  "IO",
  "Invalid",
  "Invalid Input",
  "Conversion",
  "Not implemented",
  "Serialization",
  "HTTP",
  "Permission",
]);
const FILES_ALONE = new Set(["IO", "Serialization", "HTTP", "Permission"]);

/** How much memory the kernel had, and where it writes what does not fit. */
interface KernelMeans {
  readonly lease: KernelLease;
  readonly directory: string | null;
}

export function inUserWords(
  error: unknown,
  operator: string,
  files: readonly string[],
  means: KernelMeans | null = null,
): unknown {
  if (!(error instanceof KernelError)) return error;
  return (
    noDisk(error, operator, means) ??
    noMemory(error, operator, means) ??
    tooLarge(error, operator) ??
    unevenZip(error) ??
    unknownColumn(error, operator) ??
    noList(error, operator) ??
    noAggregate(error, operator) ??
    noVectors(error, operator) ??
    noType(error, operator) ??
    noOperands(error, operator) ??
    noKey(error, operator) ??
    badCsv(error, operator, files) ??
    badFile(error, operator, files) ??
    named(error, operator)
  );
}

/** For questions about files before anything runs: only the code that asked knows their purpose. */
export function inInspectionWords(error: unknown, means: KernelMeans): unknown {
  if (!(error instanceof KernelError)) return error;
  return noMemory(error, "looking at the files", means) ?? error;
}

/** "failed to allocate data of size 8.0 MiB (15.4 MiB/19.0 MiB used)" */
const SIZES = /of size ([\d.]+ \w+)\s+\(([\d.]+ \w+)\/([\d.]+ \w+) used\)/;

function noMemory(error: KernelError, operator: string, means: KernelMeans | null): SpillwayError | null {
  if (error.kind !== OUT_OF_MEMORY) return null;
  const [, size, used, limit] = SIZES.exec(error.message) ?? [];
  const asked = size === undefined ? "needed more" : `asked for ${size} more with ${used} of ${limit} in use`;
  const threads = means?.lease.threads ?? 1;
  const disk =
    means?.directory === null || means === null
      ? ""
      : ` Everything that can be on disk is already in ${means.directory}.`;
  return new KernelMemoryError(
    `${operator}: the kernel ran out of memory: it ${asked}, on ${threads} ${threads === 1 ? "thread" : "threads"}.${disk} Give the session more memory or fewer workers, or let it hold less at once: use fewer columns, filter rows first, shorten lists and strings.`,
    operator,
    means?.lease.memory ?? null,
    threads,
  );
}

/** A seam for tests: every query of the wide kernel that can run in another way runs out of memory. */
export function refuseInTests(operator: string, { memory, threads }: KernelLease): void {
  if (process.env.SPILLWAY_TEST_WIDE_FAILS === undefined) return;
  throw new KernelMemoryError(
    `${operator}: the kernel ran out of memory: a test wants it so.`,
    operator,
    memory,
    threads,
  );
}

const NO_ROOM = /No space left on device|max_temp_directory_size|Disk quota exceeded/i;

/** About the kernel's own files on disk, not those that the user reads or writes. */
function noDisk(error: KernelError, operator: string, means: KernelMeans | null): SpillwayError | null {
  const path = means?.directory ?? null;
  if (path === null || !NO_ROOM.test(error.message)) return null;
  if (!error.message.includes(path) && !error.message.includes("max_temp_directory_size")) return null;
  const free = freeBytes(path);
  const room = free === null ? "" : `, where ${formatSize(free)} are free`;
  const reason = error.message.split("\n")[0] ?? error.message;
  return new SpillError(
    `${operator}: the kernel must spill to disk, but ${path}${room}, takes no more (${reason}). Free space there, use another localDirectory, or give the session more memory.`,
    [{ path, reason, free }],
    null,
    0,
  );
}

function freeBytes(path: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return null;
  }
}

const NO_BIGINT =
  /INT128 with value (-?\d+) can't be cast because the value is out of range for the destination type INT64(?: when casting from source column ([^\n]+))?/;

function tooLarge(error: KernelError, operator: string): SpillwayError | null {
  const found = NO_BIGINT.exec(error.message);
  if (found === null) return null;
  const [, value, column] = found;
  const which = column === undefined ? "a value" : `column "${column.trim()}"`;
  return new KernelError(
    `${operator}: ${which} is ${value}, which does not fit a BIGINT (64 bits). Cast its inputs to DECIMAL(38, 0) or DOUBLE, for example sum(col::DOUBLE).`,
    error.kind,
    error.sql,
  );
}

/** The error in the SQL of a zip. */
const UNEVEN = /^Invalid Input Error: (zip: the (left|right) dataset has more rows .*)/;

function unevenZip(error: KernelError): SpillwayError | null {
  const [, message, side] = UNEVEN.exec(error.message) ?? [];
  return message === undefined ? null : new ZipLengthError(message, side === "left" ? "left" : "right");
}

/**
 * Names the columns that exist, for an error about a column that the kernel did not find. `columns` is only called
 * then.
 */
export function namingColumns(error: unknown, operator: string, columns: () => readonly string[]): unknown {
  const column = error instanceof KernelError ? missingColumn(error) : null;
  if (column === null) return error;
  const here = columns();
  return new UnknownColumnError(column, here, operator, nearest(column, here));
}

function missingColumn(error: KernelError): string | null {
  if (error.kind !== "Binder") return null;
  const found = UNKNOWN_COLUMN.exec(error.message);
  const name = found?.[1] ?? found?.[2] ?? found?.[3] ?? found?.[4] ?? null;
  // The kernel puts some names into quotes of its own.
  return name?.replace(/^"(.*)"$/, "$1") ?? null;
}

function unknownColumn(error: KernelError, operator: string): SpillwayError | null {
  const column = missingColumn(error);
  if (column === null) return null;
  const candidates = [...(CANDIDATES.exec(error.message)?.[1] ?? "").matchAll(/"(?:[^"]*\.)?([^".]+)"/g)].map(
    (m) => m[1] ?? "",
  );
  return new UnknownColumnError(column, candidates, operator, candidates[0] ?? null, "some");
}

function noList(error: KernelError, operator: string): SpillwayError | null {
  const found = NO_LIST.exec(error.message);
  if (found === null || error.sql === null) return null;
  const column = UNNESTED.exec(error.sql)?.[1]?.replaceAll('""', '"');
  if (column === undefined) return null;
  return new KernelError(
    `${operator}: explode needs a column of lists, but "${column}" is ${found[1]}.`,
    error.kind,
    error.sql,
  );
}

/** The kernel's names of aggregates that not every type has. */
const NO_AGGREGATE =
  /No function matches the given name and argument types '(sum|avg|stddev_samp|var_samp|var_pop|quantile_cont)\((.+?)(?:, DOUBLE)?\)'/;
const AGGREGATES: Readonly<Record<string, string>> = {
  sum: "sum",
  avg: "mean",
  stddev_samp: "std",
  var_samp: "var",
  var_pop: "std or var",
  quantile_cont: "quantile",
};

function noAggregate(error: KernelError, operator: string): SpillwayError | null {
  const [, name, type] = NO_AGGREGATE.exec(error.message) ?? [];
  if (name === undefined) return null;
  return new KernelError(
    `${operator}: there is no ${AGGREGATES[name]} of ${type} values. Convert them to numbers first, such as col("x").cast("DOUBLE"), or for times sql("epoch(x)").`,
    error.kind,
    error.sql,
  );
}

const NO_TYPE = /^Catalog Error: Type with name (.+) does not exist!/;
const TYPES = [
  ...["BIGINT", "INTEGER", "SMALLINT", "TINYINT", "HUGEINT", "UBIGINT", "UINTEGER", "USMALLINT", "UTINYINT"],
  ...["DOUBLE", "FLOAT", "DECIMAL", "BOOLEAN", "VARCHAR", "BLOB", "UUID", "JSON", "BIT", "INTERVAL"],
  ...["DATE", "TIME", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ", "STRUCT", "MAP"],
];

/** The kernel's suggestions only compare letters, and may be names of no type. */
function noType(error: KernelError, operator: string): SpillwayError | null {
  const [, type] = NO_TYPE.exec(error.message) ?? [];
  if (type === undefined) return null;
  const meant = nearest(type, TYPES);
  const hint =
    meant === null
      ? ` Types are ${TYPES.slice(0, 2).join(", ")}, DOUBLE, VARCHAR, DATE, TIMESTAMP, DECIMAL(12, 2), BIGINT[], …`
      : ` Did you mean ${meant}?`;
  return new KernelError(`${operator}: there is no type "${type}".${hint}`, error.kind, error.sql);
}

const NO_OPERANDS = /No function matches the given name and argument types '(.+?)\((.*)\)'/;
/** Methods whose name in SQL differs. */
const METHODS: Readonly<Record<string, string>> = {
  date_part: "year, month, day and similar methods",
  struct_extract: "field",
  list_aggr: "listSum, listMean, listMin and listMax",
};

/** The existing forms of a function. An operator has too many to be helpful. */
function formsOf(name: string, message: string): string {
  const forms = /^\w+$/.test(name) ? message.split("\n").filter((line) => /^\t(?!Candidate)/.test(line)) : [];
  return forms.length === 0 ? "" : ` Its forms:\n${forms.join("\n")}`;
}

/** The line of SQL in the kernel's text is ours, and means nothing to the user. */
function noOperands(error: KernelError, operator: string): SpillwayError | null {
  const [, name, types] = NO_OPERANDS.exec(error.message) ?? [];
  if (name === undefined || types === undefined) return null;
  // Methods pass the name of a part or a field as a literal. Without a literal it is the user's own SQL.
  const method = types.includes("STRING_LITERAL") ? METHODS[name] : undefined;
  const given = sqlName(
    method === undefined ? types : (types.split(", ").find((type) => !type.endsWith("_LITERAL")) ?? types),
  );
  return new KernelError(
    `${operator}: ${method ?? name} cannot be computed from ${given}. First cast the column to a type that it accepts, such as col("x").cast("DOUBLE").${method === undefined ? formsOf(name, error.message) : ""}`,
    error.kind,
    error.sql,
  );
}

/**
 * "Cannot deduce template type 'K' in function: 'map_extract_value(MAP(K, V), K) -> V'", followed by the type of each
 * operand.
 */
const NO_TEMPLATE = /Cannot deduce template type '\w+' in function: '(\w+)\(/;
const INFERRED = /^ - '(.+?)',/gm;
const TEMPLATES: Readonly<Record<string, string>> = {
  map_extract_value: "mapGet",
  map_extract: "mapGet",
  element_at: "mapGet",
  list_contains: "listContains",
  list_position: "listPosition",
};

function noKey(error: KernelError, operator: string): SpillwayError | null {
  const [, name] = NO_TEMPLATE.exec(error.message) ?? [];
  const [first, other] = [...error.message.matchAll(INFERRED)].map(([, type = ""]) => sqlName(type));
  if (name === undefined || first === undefined || other === undefined) return null;
  return new KernelError(
    `${operator}: ${TEMPLATES[name] ?? name} got a value of type ${other}, but the values inside are ${first}. Give a value of that type, or cast it: .cast(${JSON.stringify(first)}).`,
    error.kind,
    error.sql,
  );
}

/** The kernel's names for the types of constants. */
function sqlName(type: string): string {
  return type.replaceAll("STRING_LITERAL", "VARCHAR").replaceAll("INTEGER_LITERAL", "INTEGER");
}

const VECTORS: Readonly<Record<string, string>> = {
  list_cosine_similarity: "cosineSimilarity",
  list_distance: "l2Distance",
  list_inner_product: "dot",
};
const UNEQUAL = /(list_\w+): list dimensions must be equal, got left length '(\d+)' and right length '(\d+)'/;
const NULL_INSIDE = /(list_\w+): (?:left|right) argument can not contain NULL values/;
const NO_VECTORS = /types '(list_cosine_similarity|list_distance|list_inner_product)\((.+)\)'/;

function noVectors(error: KernelError, operator: string): SpillwayError | null {
  const [, unequal = "", left, right] = UNEQUAL.exec(error.message) ?? [];
  const [, nulls = ""] = NULL_INSIDE.exec(error.message) ?? [];
  const [, unknown = "", types] = NO_VECTORS.exec(error.message) ?? [];
  const name = VECTORS[unequal] ?? VECTORS[nulls] ?? VECTORS[unknown];
  if (name === undefined) return null;
  let what = `takes lists of numbers, but got ${types}. First cast the column, such as col("x").cast("FLOAT[]")`;
  if (left !== undefined) what = `a vector of ${left} numbers cannot be compared with one of ${right}`;
  else if (nulls !== "") what = "a vector has a null inside. Drop such rows, or replace the null by a number";
  return new KernelError(`${operator}: ${name}: ${what}.`, error.kind, error.sql);
}

/** "CSV Error on Line: 3", the line, what is wrong with it, and advice in the kernel's own words. */
const BAD_CSV =
  /^Invalid Input Error: CSV Error on Line: (\d+)\n(?:Original Line: ?([\s\S]*?)\n)?(Expected Number of Columns: (\d+) Found: (\d+)|Value with unterminated quote found|Maximum line size of (\d+) bytes exceeded|Invalid unicode \(byte sequence mismatch\) detected)/;
const CSV_FILE = /^ {2}file = (.*)$/m;
const MOST_OF_A_LINE = 200;

function badCsv(error: KernelError, operator: string, files: readonly string[]): SpillwayError | null {
  const [, line, text, reason, expected, found, longest] = BAD_CSV.exec(error.message) ?? [];
  const path = CSV_FILE.exec(error.message)?.[1] ?? files[0];
  if (reason === undefined || path === undefined) return null;
  let what = "a quote is opened and never closed";
  let remedy = 'Give the right quote and escape, or quote: "" if nothing is quoted';
  if (expected !== undefined) {
    what = `it has ${found} ${found === "1" ? "field" : "fields"}, but the first line has ${expected}`;
    remedy = "Fix the file, give the right delimiter, quote or skip, or drop such rows with ignoreErrors";
  } else if (longest !== undefined) {
    what = `it is longer than ${longest} bytes`;
    remedy = "Give a larger maxLineSize";
  } else if (reason.startsWith("Invalid unicode")) {
    if (operator.startsWith("readText")) return badBytesError(path, Number(line), "utf-8");
    what = "it is not UTF-8";
    remedy = 'Give the encoding of the file, such as encoding: "latin-1", or drop such rows with ignoreErrors';
  }
  const start = (text ?? "").split("\n")[0]?.slice(0, MOST_OF_A_LINE) ?? "";
  const shown = start === "" ? "" : `: ${JSON.stringify(start)}`;
  return new SourceError(`${operator}: ${path}, line ${line}: ${what}${shown}. ${remedy}.`, path);
}

function badFile(error: KernelError, operator: string, files: readonly string[]): SpillwayError | null {
  if (files.length === 0 || !FILE_KINDS.has(error.kind)) return null;
  const named = files.find((file) => error.message.includes(file));
  const isFiles = FILES_ALONE.has(error.kind) || isKnownFault(error.message);
  // Expressions can fail with conversion errors and invalid input, too, which are not the file's fault.
  if (named === undefined && !isFiles) return null;
  const path = named ?? files[0] ?? "";
  const which = named === undefined && files.length > 1 ? `one of its ${files.length} files` : path;
  return new SourceError(`${operator}: ${which} cannot be read: ${fileFault(error.message, path)}`, path);
}

function named(error: KernelError, operator: string): SpillwayError {
  return new KernelError(`${operator}: ${withoutOwnSql(error.message)}`, error.kind, error.sql);
}
