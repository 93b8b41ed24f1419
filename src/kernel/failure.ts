/**
 * DuckDB's error texts as KernelErrors: "Binder Error: …" has the kind "Binder". A refusal of memory always has the
 * kind "Out of Memory", although DuckDB gives it other names at a commit, or after an earlier refusal has made a
 * database unusable. DuckDB's advice is left out, because users cannot change its settings here.
 */
import { isKernelRefused, KernelError } from "../errors/index.ts";
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

export function kernelError(message: string | null, sql: string | null): KernelError {
  // An error without a text is one of memory: there was none left for the text.
  if (message === null || message === "") return new KernelError(UNTOLD, OUT_OF_MEMORY, sql);
  const text = shortened(withoutAdvice(message));
  const prefix = PREFIX.exec(text)?.[1] ?? "Unknown";
  const kind = SHOUTED.get(prefix) ?? prefix;
  return new KernelError(text, isKernelRefused(kind, message) ? OUT_OF_MEMORY : kind, sql);
}

const UNTOLD = "The kernel failed without a message: it had no memory left even for one.";

/**
 * Removes lists of solutions and lines that advise to SET something. The first line stays, because it may quote a
 * user's text.
 */
function withoutAdvice(text: string): string {
  const [first = "", ...rest] = text.split("\n");
  const kept = rest.filter((line) => !ADVICE.test(line)).join("\n");
  return `${first}\n${kept}`.replace(/\n{3,}/g, "\n\n").trimEnd();
}

const ADVICE =
  /^\s*Possible solutions:|^\s*\* .*\(SET \w+|See also https:\/\/duckdb\.org|\b(?:SET|PRAGMA) (?:GLOBAL )?\w+ ?=|^Database is launched in in-memory mode|^Unused blocks cannot be offloaded|^Launch the database with/;

/** Some functions have a hundred forms, and the kernel lists all of them. */
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

/** Throws the error of an Arrow conversion, which is an error object, or 0 for none. */
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
