/**
 * Paths as users give them: local paths as text or as file URLs. Other schemes are refused, by readers and writers
 * alike.
 */
import { fileURLToPath } from "node:url";
import { isUrl } from "../realm/index.ts";

/**
 * At least two letters: `c:/` is not a scheme. One slash is enough: joining paths turns `s3://bucket` into
 * `s3:/bucket`.
 */
const SCHEME = /^[a-z][a-z0-9+.-]+:\//i;
const FILE = /^file:/i;

/** Null if the path is not local. */
export function localPath(given: string | URL): string | null {
  const text = String(given);
  if (!isUrl(given) && !FILE.test(text)) return SCHEME.test(text) ? null : text;
  // "file:out" would be /out, which is never meant.
  if (!/^file:\//i.test(text)) return null;
  try {
    return fileURLToPath(text);
  } catch {
    // A URL of another machine, or with an encoded slash.
    return null;
  }
}

/** The error for a path that is not local. */
export function notLocal(given: string | URL, use: "read" | "written"): string {
  return `${given} is not a local path. Only local files can be ${use}.`;
}
