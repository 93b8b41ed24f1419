/**
 * The columns of JSON files, as the kernel finds them over a sample of each. It keeps what it has read of every file
 * until it has seen all of them, so it is asked about as many at a time as are little. Where groups of files do not
 * agree, those that differ are looked at together, and those that only repeat others are left out.
 */
import type { Column } from "../../plan/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import type { Engine } from "../engine.ts";
import type { SourceFile } from "./files.ts";
import { inspectFiles } from "./kept-facts.ts";
import { pathListSql } from "./kernel-paths.ts";

const MOST_FILES = 128;
/** The kernel reads so much of a file at once. */
const READ_AT_ONCE: Bytes = 32 * 2 ** 20;
const MOST_BYTES: Bytes = 2 * READ_AT_ONCE;

export async function jsonColumns(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  args: readonly string[],
): Promise<readonly Column[]> {
  const groups = grouped(files);
  const found = new Map<string, { readonly columns: readonly Column[]; readonly group: readonly SourceFile[] }>();
  // All workers at once.
  const each = await Promise.all(
    groups.map(async (group) => ({ group, columns: await columnsOf(engine, group, args) })),
  );
  for (const one of each) {
    const key = JSON.stringify(one.columns);
    if (!found.has(key)) found.set(key, one);
  }
  const [first, ...others] = found.values();
  if (first === undefined) return [];
  if (others.length === 0) return first.columns;
  const differing = [first, ...others].flatMap(({ group }) => group);
  return found.size < groups.length ? jsonColumns(engine, differing, args) : columnsOf(engine, differing, args);
}

async function columnsOf(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
  args: readonly string[],
): Promise<readonly Column[]> {
  // A key that only one of the files has must be found too: by default the kernel looks at 32 of them.
  const sampled = `maximum_sample_files=${files.length}`;
  const reader = `read_json(${[pathListSql(files), ...args, sampled, "hive_partitioning=false"].join(", ")})`;
  const rows = await inspectFiles(engine, files, `DESCRIBE SELECT * FROM ${reader}`);
  return rows.map((row) => ({ name: String(row.column_name), type: String(row.column_type) }));
}

/** Neighbours; one file at least. */
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

/** What is in a compressed file is not known before it is read. */
function heldOf({ path, bytes }: SourceFile): Bytes {
  return /\.(gz|zst)$/i.test(path) ? READ_AT_ONCE : Math.min(bytes, READ_AT_ONCE);
}
