/** DuckDB's error texts as KernelErrors: "Binder Error: …" is of kind "Binder". */
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

export function kernelError(message: string | null, sql: string | null): KernelError {
  const text = shortened(message ?? "The kernel failed without saying why.");
  const prefix = PREFIX.exec(text)?.[1] ?? "Unknown";
  return new KernelError(text, SHOUTED.get(prefix) ?? prefix, sql);
}

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
