/** Directories for files that are being written; one that cannot be made is the user's directory's failure. */
import { join } from "node:path";
import { WriteError } from "../../errors/index.ts";
import { makeDirectory } from "../../files/index.ts";
import type { FileSink } from "../../protocol/index.ts";

/** `below` is relative to the staging directory. */
export function makeStaging({ directory, staging }: Pick<FileSink, "directory" | "staging">, below = ""): void {
  try {
    makeDirectory(join(staging, below));
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new WriteError(
      `${directory} cannot be written: ${cause}. Its files are staged in ${staging} first.`,
      directory,
    );
  }
}
