/**
 * Which types hold the values of JSON files. The types that the kernel finds are checked against the texts of a sample,
 * because the kernel drops the offsets of times and rounds whole numbers with many digits.
 */
import { foldedName, quoteIdentifier, quoteText } from "../../arrow/index.ts";
import { SourceError } from "../../errors/index.ts";
import type { Column } from "../../plan/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import type { Engine } from "../engine.ts";
import { ANY_KIND, type Kinds, kindsSql } from "./csv-types.ts";
import type { SourceFile } from "./files.ts";
import { areJoinable, isCompressed } from "./json-lines.ts";
import { inspectFiles } from "./kept-facts.ts";
import { pathListSql } from "./kernel-paths.ts";

const FORMATS = { dateFormat: null, timestampFormat: null, decimal: null };
const SAMPLED_FILES = 8;
const ROWS_OF_ONE = 4_096;
/** A file of this size has at most as many rows: each has two braces and the end of a line. */
const READ_WHOLE: Bytes = 3 * ROWS_OF_ONE;
/** The kernel sets memory aside for each file. */
const FILES_PER_QUERY = 8;

/** For a type that the kernel finds, the types to try, as bits of `spillway_kinds`. */
const INSTEAD: Readonly<Record<string, readonly (readonly [Kinds, string])[]>> = {
  BOOLEAN: [[1, "BOOLEAN"]],
  BIGINT: [[2, "BIGINT"]],
  DOUBLE: [[4, "DOUBLE"]],
  DATE: [
    [8, "DATE"],
    [16, "TIMESTAMP"],
  ],
  TIME: [[128, "TIME"]],
  TIMESTAMP: [
    [16, "TIMESTAMP"],
    [32, "TIMESTAMP_NS"],
    [64, "TIMESTAMP WITH TIME ZONE"],
  ],
};

/**
 * The kernel takes times for text if they have a blank before the clock and an offset after it, as `writeJson` writes
 * them.
 */
const IN_TEXTS: readonly (readonly [Kinds, string])[] = [[64, "TIMESTAMP WITH TIME ZONE"]];

/** Whether a column of this type is read as text first. */
export function isChecked(type: string): boolean {
  return type in INSTEAD;
}

export async function exactTypes(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  args: readonly string[],
  found: readonly Column[],
): Promise<readonly Column[]> {
  const wide = found.map(({ name, type }) => ({ name, type: type === "HUGEINT" ? "DECIMAL(38,0)" : type }));
  const checked = wide.filter(({ type }) => isChecked(type) || type === "VARCHAR");
  if (checked.length === 0) return wide;
  const kinds = checked.map(() => ANY_KIND);
  const step = Math.max(1, (files.length - 1) / (SAMPLED_FILES - 1));
  const some = files.filter((_, i) => Math.round(Math.round(i / step) * step) === i);
  const columns = checked.map(({ name }) => `${quoteText(name)}: 'VARCHAR'`).join(", ");
  const items = checked.map((column, i) => `bit_and(${kindsOf(column)}) AS k${i}`);
  // Small files in one question, because preparing its SQL takes 10 ms. Large ones in several: all workers are asked at
  // once.
  const areSmall = areJoinable(args) && some.every(({ bytes, path }) => bytes <= READ_WHOLE && !isCompressed(path));
  const groups = areSmall ? [some] : some.map((file) => [file]);
  const answers = await Promise.all(
    groups.map((group) => {
      const table = `read_json(${[pathListSql(group), ...args, `columns={${columns}}`, "records=true", "hive_partitioning=false"].join(", ")})`;
      const sql = `SELECT ${items.join(", ")} FROM (SELECT * FROM ${table} LIMIT ${ROWS_OF_ONE * group.length})`;
      return inspectFiles(engine, group, sql);
    }),
  );
  for (const [row] of answers) {
    checked.forEach((_, i) => {
      kinds[i] = (kinds[i] ?? ANY_KIND) & Number(row?.[`k${i}`] ?? ANY_KIND);
    });
  }
  const types = new Map(
    checked.map(({ name, type }, i) => [
      name,
      candidates(type, kinds[i] ?? ANY_KIND).find(([bit]) => ((kinds[i] ?? ANY_KIND) & bit) !== 0)?.[1] ?? "VARCHAR",
    ]),
  );
  return wide.map(({ name, type }) => ({ name, type: types.get(name) ?? type }));
}

function candidates(type: string, kinds: Kinds): readonly (readonly [Kinds, string])[] {
  if (type !== "VARCHAR") return INSTEAD[type] ?? [];
  return kinds === ANY_KIND ? [] : IN_TEXTS;
}

/** An empty text counts as text. */
function kindsOf({ name, type }: Column): string {
  const value = quoteIdentifier(name);
  const kinds = kindsSql(value, FORMATS);
  return type === "VARCHAR" ? `CASE WHEN ${value} = '' THEN 0 ELSE ${kinds} END` : kinds;
}

/** The values of files in the column `json`, unconverted, read with the user's options. */
export function objectsSql(files: readonly SourceFile[], args: readonly string[], ...more: readonly string[]): string {
  const taken = args.filter((argument) => /^(format|compression|maximum_object_size|ignore_errors)=/.test(argument));
  return `read_json_objects(${[pathListSql(files), ...taken, "hive_partitioning=false", ...more].join(", ")})`;
}

/**
 * Refuses keys that differ only in case, and the empty key: the kernel renames them, and then finds no value under the
 * new name.
 */
export async function checkKeyNames(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  args: readonly string[],
  found: readonly Column[],
): Promise<void> {
  const folded = new Set(found.map(({ name }) => foldedName(name)));
  const doubtful = found.some(
    ({ name }) => /^C\d+$/.test(name) || (/_\d+$/.test(name) && folded.has(foldedName(name.replace(/_\d+$/, "")))),
  );
  if (!doubtful) return;
  const keys = new Set<string>();
  for (let at = 0; at < files.length; at += FILES_PER_QUERY) {
    const some = objectsSql(files.slice(at, at + FILES_PER_QUERY), args);
    const rows = await engine.inspect(
      `SELECT DISTINCT unnest(json_keys(json)) AS key FROM (SELECT json FROM ${some} LIMIT 20480)`,
    );
    for (const { key } of rows) keys.add(String(key));
  }
  const seen = new Map<string, string>();
  for (const key of keys) {
    const other = seen.get(foldedName(key));
    const pair = other === undefined ? null : `the keys "${other}" and "${key}", which cannot be columns`;
    const what = key === "" ? 'the key "", which cannot be a column' : pair;
    if (what !== null) {
      throw new SourceError(
        `readJson: ${files[0]?.shown ?? ""} ${files.length === 1 ? "has" : "and the files read with it have"} ${what}: names must not be empty, and must differ in more than case. Rename them, or read the lines with readText.`,
        files[0]?.path ?? "",
      );
    }
    seen.set(foldedName(key), key);
  }
}
