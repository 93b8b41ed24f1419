/** The kernel's error about a file, with the reader's name and the file. */
import { fileFault, KernelError, SourceError } from "../../errors/index.ts";
import type { SourceFile } from "./files.ts";

export async function inSourceWords<T>(
  operator: string,
  files: readonly SourceFile[],
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    const named =
      files.find((file) => error.message.includes(file.path)) ?? (files.length === 1 ? files[0] : undefined);
    if (named === undefined) throw error;
    throw new SourceError(
      `${operator}: ${named.shown} cannot be read: ${fileFault(error.message, named.path)}`,
      named.path,
    );
  }
}
