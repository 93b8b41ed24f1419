/**
 * The columns of JSON files, as the kernel finds them in a sample of each. The kernel keeps what it has read of all
 * files in a question until it has seen the last one; so a question has only as many files as take little memory. If
 * groups of files disagree, the groups that differ are asked about together, and a group that repeats another one is
 * left out.
 */
import type { Column } from "../../plan/index.ts";
import { type Bytes, type InspectedRow, JOINED, type QuickQuestion } from "../../protocol/index.ts";
import type { Engine } from "../engine.ts";
import type { SourceFile } from "./files.ts";
import { areSampledWhole, asLines, isCompressed } from "./json-lines.ts";
import { inspectFiles } from "./kept-facts.ts";
import { pathListSql } from "./kernel-paths.ts";
import { askQuickly, fitOneQuestion } from "./small-files.ts";

const MOST_FILES = 128;
/** How much of a file the kernel reads at once. */
const READ_AT_ONCE: Bytes = 32 * 2 ** 20;
/** The kernel looks at every value of a file this small: such a file has fewer values than it samples. */
const SAMPLED_WHOLE: Bytes = 32 * 1024;
const MOST_BYTES: Bytes = 2 * READ_AT_ONCE;

interface Described {
  readonly group: readonly SourceFile[];
  readonly columns: readonly Column[];
}

export async function jsonColumns(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  args: readonly string[],
): Promise<readonly Column[]> {
  return (await joinedColumns(engine, files, args)) ?? columnsOfGroups(engine, files, args);
}

async function columnsOfGroups(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  args: readonly string[],
): Promise<readonly Column[]> {
  const groups = grouped(files);
  // All workers work at once.
  const found = differing(
    await Promise.all(groups.map(async (group) => ({ group, columns: await columnsOf(engine, group, args) }))),
  );
  const [first, ...others] = found;
  if (first === undefined) return [];
  if (others.length === 0) return first.columns;
  const rest = found.flatMap(({ group }) => group);
  return found.length < groups.length ? columnsOfGroups(engine, rest, args) : columnsOf(engine, rest, args);
}

/** For each set of columns, the first group of files that has it. */
function differing(groups: readonly Described[]): readonly Described[] {
  const found = new Map<string, Described>();
  for (const one of groups) {
    const key = JSON.stringify(one.columns);
    if (!found.has(key)) found.set(key, one);
  }
  return [...found.values()];
}

/**
 * The columns of many small files, hundreds of which are one file for the kernel. Null when there are few files, or
 * large or unusual ones.
 */
async function joinedColumns(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  args: readonly string[],
): Promise<readonly Column[] | null> {
  if (!areSampledWhole(args) || files.some(({ path }) => isCompressed(path))) return null;
  const reader = `read_json(${[JOINED, ...asLines(args), "sample_size=-1", "hive_partitioning=false"].join(", ")})`;
  const question = (paths: readonly string[]): QuickQuestion => ({
    kind: "json",
    files: paths,
    sql: `DESCRIBE SELECT * FROM ${reader}`,
  });
  const answer = (rows: readonly InspectedRow[], group: readonly SourceFile[]) => ({ group, columns: described(rows) });
  const groups = await askQuickly(engine, files, SAMPLED_WHOLE, question, answer);
  const found = groups === null ? [] : differing(groups);
  const rest = found.flatMap(({ group }) => group);
  if (found.length > 1 && !fitOneQuestion(rest)) return null;
  const [one] =
    found.length > 1 ? ((await askQuickly(engine, rest, SAMPLED_WHOLE, question, answer, [rest])) ?? []) : found;
  return one?.columns ?? null;
}

async function columnsOf(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  args: readonly string[],
): Promise<readonly Column[]> {
  // A key that only one file has must be found, too. By default the kernel looks at 32 files.
  const sampled = `maximum_sample_files=${files.length}`;
  const reader = `read_json(${[pathListSql(files), ...args, sampled, "hive_partitioning=false"].join(", ")})`;
  const rows = await inspectFiles(engine, files, `DESCRIBE SELECT * FROM ${reader}`);
  return described(rows);
}

function described(rows: readonly InspectedRow[]): readonly Column[] {
  return rows.map((row) => ({ name: String(row.column_name), type: String(row.column_type) }));
}

/** Groups of neighbouring files, at least one file each. */
function grouped(files: readonly SourceFile[]): readonly (readonly SourceFile[])[] {
  const groups: SourceFile[][] = [];
  let held = 0;
  for (const file of files) {
    const bytes = heldOf(file);
    const last = groups.at(-1);
    if (last === undefined || last.length === MOST_FILES || held + bytes > MOST_BYTES) {
      groups.push([file]);
      held = bytes;
    } else {
      last.push(file);
      held += bytes;
    }
  }
  return groups;
}

/** How much memory the kernel takes for a file. The size of a compressed file says nothing about its contents. */
function heldOf({ path, bytes }: SourceFile): Bytes {
  return isCompressed(path) ? READ_AT_ONCE : Math.min(bytes, READ_AT_ONCE);
}
