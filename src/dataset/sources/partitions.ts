/**
 * Hive partitions: folders named `key=value` that become columns. All files of a folder have the same values, so the
 * values are constants in the SQL of a split, and a condition on them alone can leave out whole files.
 */
import { dirname } from "node:path";
import { quoteIdentifier, quoteText } from "../../arrow/index.ts";
import { SourceError } from "../../errors/index.ts";
import { type Column, columnsRead, type Expression, expressionSql, literalSql } from "../../plan/index.ts";
import type { Engine } from "../engine.ts";
import type { ListedFiles, SourceFile } from "./files.ts";

const NULL_VALUE = "__HIVE_DEFAULT_PARTITION__";

export interface PartitionedFile extends SourceFile {
  /** One for each partition column, in order; null for the null partition. */
  readonly values: readonly (string | null)[];
}

export interface Partitions {
  readonly columns: readonly Column[];
  readonly files: readonly PartitionedFile[];
  /** When the files were examined at the earliest, by `performance.now()`. */
  readonly examinedAt: number;
}

export function findPartitions(
  { files, examinedAt }: ListedFiles,
  declared: Readonly<Record<string, string>>,
  operator: string,
): Partitions {
  const folders = new Map<string, ReturnType<typeof pairsOf>>();
  const parsed = files.map((file) => {
    const folder = dirname(file.shown);
    const pairs = folders.get(folder) ?? pairsOf(folder);
    folders.set(folder, pairs);
    return { file, pairs };
  });
  const names = [...(parsed[0]?.pairs.keys() ?? [])];
  for (const { file, pairs } of parsed) {
    if (pairs.size !== names.length || names.some((name) => !pairs.has(name))) {
      throw new SourceError(
        `${operator}: ${file.shown} is partitioned by (${[...pairs.keys()].join(", ")}), ${files[0]?.shown} by (${names.join(", ")}). Files read together must have the same partition folders.`,
        file.shown,
      );
    }
  }
  const columns = names.map((name): Column => {
    const values = parsed.map(({ pairs }) => pairs.get(name) ?? null);
    return { name, type: declared[name] ?? typeOf(values) };
  });
  const values = new Map(parsed.map(({ pairs }) => [pairs, names.map((name) => pairs.get(name) ?? null)]));
  const partitioned = parsed.map(({ file, pairs }) => ({ ...file, values: values.get(pairs) ?? [] }));
  return { columns, files: partitioned, examinedAt };
}

/** Whether both files are in one partition folder, or in two folders with the same values. */
export function haveSameValues(a: PartitionedFile, b: PartitionedFile): boolean {
  return a.values === b.values || a.values.every((value, i) => value === b.values[i]);
}

function pairsOf(path: string): ReadonlyMap<string, string | null> {
  const pairs = new Map<string, string | null>();
  for (const folder of path.split("/")) {
    const match = /^([^=]+)=(.*)$/.exec(folder);
    if (match === null) continue;
    const value = decoded(match[2] ?? "");
    pairs.set(decoded(match[1] ?? ""), value === NULL_VALUE ? null : value);
  }
  return pairs;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign on its own stands for itself.
    return text;
  }
}

function typeOf(values: readonly (string | null)[]): string {
  const present = values.filter((value) => value !== null);
  const all = (fits: (value: string) => boolean) => present.length > 0 && present.every(fits);
  if (all(isWhole)) return "BIGINT";
  if (all((value) => isWhole(value) || isFloat(value))) return "DOUBLE";
  if (all((value) => /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(value))) return "DATE";
  return "VARCHAR";
}

const isWhole = (value: string) => /^(0|-?[1-9][0-9]{0,17})$/.test(value);

/**
 * Whether the text is a DOUBLE in the kernel's spelling, which is how JavaScript's numbers are written: `2024.0`. A
 * version such as `1.10` is not.
 */
function isFloat(value: string): boolean {
  return /^-?[0-9]+\.[0-9]+$/.test(value) && value.replace(/\.0$/, "") === String(Number(value));
}

/** The constants of a file, as select items. */
export function partitionItems(columns: readonly Column[], values: readonly (string | null)[]): readonly string[] {
  return columns.map(
    ({ name, type }, i) => `CAST(${literalSql(values[i] ?? null)} AS ${type}) AS ${quoteIdentifier(name)}`,
  );
}

/** The files that are left after the conditions on partition columns alone. */
export async function prunePartitions(
  { columns, files }: Partitions,
  filters: readonly Expression[],
  engine: Pick<Engine, "inspect">,
): Promise<readonly PartitionedFile[]> {
  const names = columns.map(({ name }) => name);
  const usable = filters.filter((filter) => {
    const reads = columnsRead(filter, null);
    return reads !== null && reads.size > 0 && [...reads].every((name) => names.includes(name));
  });
  if (usable.length === 0 || files.length === 0) return files;
  const tuples = new Map(files.map((file) => [JSON.stringify(file.values), file.values]));
  const rows = [...tuples].map(
    ([key, values]) =>
      `SELECT ${[`${quoteText(key)} AS ${quoteIdentifier("__key")}`, ...partitionItems(columns, values)].join(", ")}`,
  );
  const where = usable.map((filter) => expressionSql(filter)).join(" AND ");
  const found = await engine.inspect(
    `SELECT ${quoteIdentifier("__key")} AS key FROM (${rows.join(" UNION ALL ")}) WHERE ${where}`,
  );
  const kept = new Set(found.map(({ key }) => String(key)));
  return files.filter((file) => kept.has(JSON.stringify(file.values)));
}
