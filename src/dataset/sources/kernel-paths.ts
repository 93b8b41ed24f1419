/**
 * Paths of listed files as SQL for the kernel's readers. The readers take every path for a pattern, so special
 * characters are escaped: exactly the listed files are read.
 */
import { quoteText, quoteTextList } from "../../arrow/index.ts";
import { SourceError } from "../../errors/index.ts";
import type { TextStream } from "../../protocol/index.ts";
import type { SourceFile } from "./files.ts";

export function pathSql(path: string): string {
  return quoteText(kernelPath(path));
}

export function pathListSql(files: readonly Pick<SourceFile, "path">[]): string {
  return quoteTextList(files.map(({ path }) => kernelPath(path)));
}

/** Folders that the kernel would take for its own columns `filename` and `content`. */
const TAKEN_FOR_OWN = /(^|\/)(filename|content)=/i;
/** A file outside such folders that exists on every machine. */
const PLAIN_FILE = quoteText("/proc/self/comm");

/**
 * Whole files, one row each, as `filename` and `content`. These readers of the kernel have no option to ignore `k=v`
 * folders, but ignore them if one of the files is outside of any.
 */
export function wholeFilesSql(reader: "read_text" | "read_blob", files: readonly Pick<SourceFile, "path">[]): string {
  const list = pathListSql(files);
  if (!files.some(({ path }) => TAKEN_FOR_OWN.test(path))) return `${reader}(${list})`;
  return `(FROM ${reader}([${PLAIN_FILE}] || ${list}) WHERE filename <> ${PLAIN_FILE})`;
}

/** A pattern that matches only this path: `a[1]*` becomes `a[[]1][*]`. */
function kernelPath(path: string): string {
  if (!/[*?[]/.test(path)) return path;
  // In a pattern the kernel takes a backslash for a slash, and it has no escape for that.
  if (path.includes("\\")) {
    throw new SourceError(
      `${path} cannot be read: its path has both a backslash and one of * ? [. Rename it, or the folder with the backslash.`,
      path,
    );
  }
  return path.replace(/[*?[]/g, "[$&]");
}

/** A file, or a part of one, as a stream of its unchanged bytes. */
export function partStream({ path, part, bytes }: SourceFile, operator: string): TextStream {
  const { start, end } = part ?? { start: 0, end: bytes };
  return { operator, path, start, end, encoding: "utf-8", packing: null, badBytes: "refuse", marksReturns: false };
}
