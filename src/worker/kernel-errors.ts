/** The kernel's complaints in the user's words: which operator, which column, which file. */
import { KernelError, SourceError, type SpillwayError, UnknownColumnError } from "../errors/index.ts";

const UNKNOWN_COLUMN =
  /Referenced column "(.+?)" not found|does not have a column named "(.+?)"|Column "(.+?)" (?:referenced|in \w+ list) /;
const LACKING_COLUMN = /Columns? with names?: "(.+?)".* do not exist in the CSV File/;
const NO_LIST = /UNNEST\(\) can only be applied to lists, structs and NULL, not (.+)/;
const UNNESTED = /unnest\("((?:[^"]|"")*)"\)/;
const CANDIDATES = /Candidate bindings:\s*(.*)/;
/** What the kernel says when a file is not what it should be. */
const FILE_KINDS = new Set(["IO", "Invalid Input", "Conversion", "Serialization", "HTTP", "Permission"]);

export function inUserWords(error: unknown, operator: string, files: readonly string[]): unknown {
  if (!(error instanceof KernelError)) return error;
  return (
    unknownColumn(error, operator) ??
    lacksColumn(error, operator, files) ??
    noList(error, operator) ??
    badFile(error, operator, files) ??
    named(error, operator)
  );
}

function unknownColumn(error: KernelError, operator: string): SpillwayError | null {
  if (error.kind !== "Binder") return null;
  const found = UNKNOWN_COLUMN.exec(error.message);
  const column = found?.[1] ?? found?.[2] ?? found?.[3];
  if (column === undefined) return null;
  const candidates = [...(CANDIDATES.exec(error.message)?.[1] ?? "").matchAll(/"(?:[^"]*\.)?([^".]+)"/g)].map(
    (m) => m[1] ?? "",
  );
  return new UnknownColumnError(column, candidates, operator, candidates[0] ?? null, "some");
}

function lacksColumn(error: KernelError, operator: string, files: readonly string[]): SpillwayError | null {
  const column = LACKING_COLUMN.exec(error.message)?.[1];
  const [first] = files;
  if (column === undefined || first === undefined) return null;
  const which = files.length === 1 ? first : `one of ${listed(files)}`;
  return new SourceError(
    `${operator}: ${which} has no column "${column}", which the first file that was read has. Read such files apart, and bring them together with select and union.`,
    first,
  );
}

function noList(error: KernelError, operator: string): SpillwayError | null {
  const found = NO_LIST.exec(error.message);
  if (found === null || error.sql === null) return null;
  const column = UNNESTED.exec(error.sql)?.[1]?.replaceAll('""', '"');
  if (column === undefined) return null;
  return new KernelError(
    `${operator}: explode needs a column of lists, and "${column}" is ${found[1]}.`,
    error.kind,
    error.sql,
  );
}

function listed(files: readonly string[]): string {
  const shown = files.slice(0, 5).join(", ");
  return files.length > 5 ? `${shown} and ${files.length - 5} more files` : shown;
}

function badFile(error: KernelError, operator: string, files: readonly string[]): SpillwayError | null {
  if (files.length === 0 || !FILE_KINDS.has(error.kind)) return null;
  const path = files.find((file) => error.message.includes(file)) ?? (files.length === 1 ? files[0] : undefined);
  if (path === undefined) return null;
  return new SourceError(`${operator}: ${path} could not be read: ${error.message}`, path);
}

function named(error: KernelError, operator: string): SpillwayError {
  return new KernelError(`${operator}: ${error.message}`, error.kind, error.sql);
}
