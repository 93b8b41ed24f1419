/**
 * Files with different columns. By default an error that names the file and the columns; with `unionByName`, all
 * columns are read.
 */
import { foldedName } from "../../arrow/index.ts";
import { SourceError } from "../../errors/index.ts";
import type { SourceFile } from "./files.ts";

interface NamedColumns {
  readonly file: Pick<SourceFile, "path" | "shown">;
  readonly names: readonly string[];
}

const MOST_NAMES = 5;

/** The columns to read: those of the first file, or of all files. `wanted`: only these are compared. */
export function namesOfAll(
  operator: string,
  shapes: readonly NamedColumns[],
  unionByName: boolean,
  wanted: readonly string[] | null,
): readonly string[] {
  const [first, ...others] = shapes;
  if (first === undefined) return [];
  const names = new Map(first.names.map((name) => [foldedName(name), name]));
  for (const other of others) {
    // Files of one shape share their names.
    if (other.names === first.names) continue;
    if (unionByName) for (const name of other.names) names.set(foldedName(name), names.get(foldedName(name)) ?? name);
    else checkSame(operator, first, other, wanted);
  }
  return [...names.values()];
}

function checkSame(operator: string, first: NamedColumns, other: NamedColumns, wanted: readonly string[] | null): void {
  const matters = (name: string) => wanted === null || wanted.includes(name);
  const missing = without(first.names, other.names).filter(matters);
  const more = wanted === null ? without(other.names, first.names) : [];
  if (missing.length + more.length === 0) return;
  const lacks = missing.length === 0 ? [] : [`has no ${listed(missing)}, which ${first.file.shown} has`];
  const has = more.length === 0 ? [] : [`has ${listed(more)}, which ${first.file.shown} lacks`];
  throw new SourceError(
    `${operator}: ${other.file.shown} ${[...lacks, ...has].join(", and ")}. With unionByName: true, the columns of all files are read, and a missing column is null; with columns: […], only the named columns are read.`,
    other.file.path,
  );
}

function without(names: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others.map(foldedName));
  return names.filter((name) => !known.has(foldedName(name)));
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => `"${name}"`);
  const rest = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
  return `${names.length === 1 ? "column" : "columns"} ${shown.join(", ")}${rest}`;
}
