/**
 * DuckDB's error texts as KernelErrors: "Binder Error: …" is of kind "Binder". Memory that was refused is of the kind
 * "Out of Memory" however it is told: at a commit, or of a database that a refusal before has made unusable, it has
 * other names. What DuckDB advises is left out: nobody can give it settings here.
 */
import { KernelError } from "../errors/index.ts";
import { destroyHandle } from "./cells.ts";
import { duckdb } from "./library.ts";

const SHOUTED: ReadonlyMap<string, string> = new Map([
  ["INTERRUPT", "Interrupt"],
  ["INTERNAL", "Internal"],
  ["FATAL", "Fatal"],
]);
const MOST_CANDIDATES = 5;
const PREFIX = /^([A-Za-z][A-Za-z ]*?) Error: /;

export const OUT_OF_MEMORY = "Out of Memory";
/** "failed to pin block of size 256.0 KiB (47.9 MiB/48.0 MiB used)" */
const REFUSED_SIZE =
  /(?:could not allocate block|failed to pin block|failed to (?:re-)?allocate \w+) of size [\d.]+ \w+\s*\([\d.]+ \w+\/[\d.]+ \w+ used\)/i;
/** What the C++ library, the system or a conversion to Arrow says; others may quote such words from a user's data. */
const REFUSED = /bad_alloc|bad allocation|allocation failure|failed to (?:re-)?allocate|cannot allocate memory/i;
const MAY_BE_REFUSED = new Set(["TransactionContext", "Fatal", "Internal", "Invalid", "Unknown", "IO"]);

export function kernelError(message: string | null, sql: string | null): KernelError {
  // A failure that cannot even be told is one of memory: the text of it could not be had.
  if (message === null || message === "") return new KernelError(UNTOLD, OUT_OF_MEMORY, sql);
  const text = shortened(withoutAdvice(message));
  const prefix = PREFIX.exec(text)?.[1] ?? "Unknown";
  const kind = SHOUTED.get(prefix) ?? prefix;
  return new KernelError(text, isMemoryRefused(kind, message) ? OUT_OF_MEMORY : kind, sql);
}

const UNTOLD = "The kernel failed without a message: it had no memory left even for one.";

function isMemoryRefused(kind: string, message: string): boolean {
  return REFUSED_SIZE.test(message) || (MAY_BE_REFUSED.has(kind) && REFUSED.test(message));
}

/**
 * Its lists of solutions, and lines that tell to SET something; never the first line, which may quote a user's text.
 */
function withoutAdvice(text: string): string {
  const [first = "", ...rest] = text.split("\n");
  const kept = rest.filter((line) => !ADVICE.test(line)).join("\n");
  return `${first}\n${kept}`.replace(/\n{3,}/g, "\n\n").trimEnd();
}

const ADVICE =
  /^\s*Possible solutions:|^\s*\* .*\(SET \w+|See also https:\/\/duckdb\.org|\b(?:SET|PRAGMA) (?:GLOBAL )?\w+ ?=|^Database is launched in in-memory mode|^Unused blocks cannot be offloaded|^Launch the database with/;

/** Some functions have a hundred forms, and the kernel lists every one. */
function shortened(text: string): string {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.trim().startsWith("Candidate functions:")) + 1;
  if (start === 0) return text;
  let end = start;
  while (lines[end]?.startsWith("\t") === true) end++;
  const more = end - start - MOST_CANDIDATES;
  if (more <= 0) return text;
  lines.splice(start + MOST_CANDIDATES, more, `\t… and ${more} more`);
  return lines.join("\n");
}

/** Throws what an Arrow conversion complains about (it hands out an error object, or 0). */
export function throwErrorData(error: number, doing: string): void {
  if (error === 0) return;
  const api = duckdb();
  const message = api.hasError(error) ? api.errorMessage(error) : null;
  destroyHandle(api.destroyError, error);
  if (message !== null) throw kernelError(`${plainMessage(message)} (${doing})`, null);
}

/** Conversions report {"exception_type":"Not implemented","exception_message":"…"}. */
function plainMessage(message: string): string {
  if (!message.startsWith("{")) return message;
  try {
    const parsed = JSON.parse(message) as { exception_type?: unknown; exception_message?: unknown };
    return `${String(parsed.exception_type)} Error: ${String(parsed.exception_message)}`;
  } catch {
    return message;
  }
}
