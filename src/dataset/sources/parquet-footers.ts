/** The footers of many small Parquet files: which files share a schema, and the row groups of each file. */
import type { InspectedRow } from "../../protocol/index.ts";
import type { Engine } from "../engine.ts";
import type { SourceFile } from "./files.ts";
import type { RowGroup } from "./row-groups.ts";
import { askQuickly } from "./small-files.ts";

export interface Footers {
  /** For each path, a file with the same schema. Some of the files with that schema share the example. */
  readonly examples: ReadonlyMap<string, SourceFile>;
  readonly groups: readonly RowGroup[];
}

const LARGEST = 64 * 1024;

/** Null when there are few files, or large or unusual ones: then the kernel is asked. */
export async function footersOf(
  engine: Pick<Engine, "inspect">,
  files: readonly SourceFile[],
): Promise<Footers | null> {
  const found = await askQuickly(engine, files, LARGEST, (paths) => ({ kind: "footers", files: paths }), footersIn);
  if (found === null) return null;
  return {
    examples: new Map(found.flatMap(({ examples }) => [...examples])),
    groups: found.flatMap(({ groups }) => groups),
  };
}

function footersIn(rows: readonly InspectedRow[], files: readonly SourceFile[]): Footers {
  const examples = new Map<string, SourceFile>();
  const groups: RowGroup[] = [];
  for (const [i, file] of files.entries()) {
    const { path } = file;
    const { like, rows: counts, bytes } = rows[i] ?? {};
    examples.set(path, files[Number(like)] ?? file);
    let start = 0;
    for (const [g, count] of numbers(counts).entries()) {
      groups.push({ path, start, rows: count, bytes: numbers(bytes)[g] ?? 0, mayMatch: true });
      start += count;
    }
  }
  return { examples, groups };
}

function numbers(value: unknown): readonly number[] {
  return Array.isArray(value) ? value.map(Number) : [];
}
