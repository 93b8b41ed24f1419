/**
 * Paths as users give them: of this machine, as text or as a file URL. What names another place is refused, by readers
 * and writers alike.
 */
import { fileURLToPath } from "node:url";
import { isUrl } from "../realm/index.ts";

/** Two letters at least: `c:/` is no scheme. One slash is enough: joining paths makes `s3:/bucket` of `s3://bucket`. */
const SCHEME = /^[a-z][a-z0-9+.-]+:\//i;
const FILE = /^file:/i;

/** Null where it is not local. */
export function localPath(given: string | URL): string | null {
  const text = String(given);
  if (!isUrl(given) && !FILE.test(text)) return SCHEME.test(text) ? null : text;
  // "file:out" would be /out, which nobody means.
  if (!/^file:\//i.test(text)) return null;
  try {
    return fileURLToPath(text);
  } catch {
    // Another machine's, or with an encoded slash.
    return null;
  }
}

/** What is wrong with a path that is not local; `use` is what it would be there for. */
export function notLocal(given: string | URL, use: "read" | "written"): string {
  return `${given} is not a local path. Only local files can be ${use}.`;
}
