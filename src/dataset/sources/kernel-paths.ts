/**
 * Paths of listed files as SQL for the kernel's readers, which take every path for a pattern: what was listed is what
 * is read, whatever characters its name has.
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

/** Folders that the kernel would take for its own columns of a file. */
const TAKEN_FOR_OWN = /(^|\/)(filename|content)=/i;
/** A file without such folders, which is there wherever this runs. */
const PLAIN_FILE = quoteText("/proc/self/comm");

/**
 * Whole files, a row each, as `filename` and `content`. These readers of the kernel cannot be told to leave `k=v`
 * folders alone, but do so where one of the files has none.
 */
export function wholeFilesSql(reader: "read_text" | "read_blob", files: readonly Pick<SourceFile, "path">[]): string {
  const list = pathListSql(files);
  if (!files.some(({ path }) => TAKEN_FOR_OWN.test(path))) return `${reader}(${list})`;
  return `(FROM ${reader}([${PLAIN_FILE}] || ${list}) WHERE filename <> ${PLAIN_FILE})`;
}

/** A pattern that matches this path alone: `a[1]*` as `a[[]1][*]`. */
function kernelPath(path: string): string {
  if (!/[*?[]/.test(path)) return path;
  // Inside a pattern the kernel takes a backslash for a slash, and has no way to say otherwise.
  if (path.includes("\\")) {
    throw new SourceError(
      `${path} cannot be read: its path has both a backslash and one of * ? [. Rename it, or the folder with the backslash.`,
      path,
    );
  }
  return path.replace(/[*?[]/g, "[$&]");
}

/** A part of a file as a stream: its bytes as they are. */
export function partStream({ path, part, bytes }: SourceFile): TextStream {
  const { start, end } = part ?? { start: 0, end: bytes };
  return { path, start, end, encoding: "utf-8", packing: null, badBytes: "refuse", marksReturns: false };
}
