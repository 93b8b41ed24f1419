/**
 * Paths of listed files as SQL for the kernel's readers, which take every path for a pattern: what was listed is what is
 * read, whatever characters its name has.
 */
import { SourceError } from "../../errors/index.ts";
import { quoteText, quoteTextList } from "../../plan/index.ts";
import type { SourceFile } from "./files.ts";

export function pathSql(path: string): string {
  return quoteText(kernelPath(path));
}

export function pathListSql(files: readonly Pick<SourceFile, "path">[]): string {
  return quoteTextList(files.map(({ path }) => kernelPath(path)));
}

/** A pattern that matches this path alone: `a[1]*` as `a[[]1][*]`. */
export function kernelPath(path: string): string {
  if (!/[*?[]/.test(path)) return path;
  // Inside a pattern the kernel takes a backslash for a slash, and has no way to say otherwise.
  if (path.includes("\\")) {
    throw new SourceError(
      `${path} cannot be read: its path has a backslash and one of * ? [ as well. Rename it, or the folder with the backslash.`,
      path,
    );
  }
  return path.replace(/[*?[]/g, "[$&]");
}
