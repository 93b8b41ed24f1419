/** Moves files one by one into and out of a directory, and can undo all moves. */
import { access, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { WriteError } from "../errors/index.ts";
import { makeDirectory } from "../files/index.ts";
import type { FileSink } from "../protocol/index.ts";
import { codeOf, messageOf } from "../realm/index.ts";

interface Move {
  readonly from: string;
  readonly to: string;
}

export class Moves {
  readonly #done: Move[] = [];
  /** The outermost directories that were made, each with the innermost. */
  readonly #made: { readonly outermost: string; readonly innermost: string }[] = [];

  /** Moves files to the same relative paths below another directory; an existing file is never replaced. */
  async all(paths: readonly string[], from: string, to: string): Promise<void> {
    for (const path of paths) {
      const target = join(to, path);
      if (await exists(target)) throw new WriteError(`${target} already exists and is not replaced.`, target);
      this.#makeDirectory(dirname(target));
      await rename(join(from, path), target);
      this.#done.push({ from: join(from, path), to: target });
    }
  }

  /** Moves everything back; the error names a file that cannot be moved back. */
  async undo(): Promise<void> {
    for (const { from, to } of this.#done.reverse()) {
      try {
        makeDirectory(dirname(from));
        await rename(to, from);
      } catch (error) {
        const cause = messageOf(error);
        throw new WriteError(`${from} was moved to ${to} and cannot be moved back: ${cause}. Move it by hand.`, from);
      }
    }
    for (const { outermost, innermost } of this.#made.reverse()) await removeEmpty(innermost, outermost);
  }

  #makeDirectory(innermost: string): void {
    const outermost = makeDirectory(innermost);
    if (outermost !== null) this.#made.push({ outermost, innermost });
  }
}

/** Removes a job's staged files. */
export async function discardFiles({ staging }: Pick<FileSink, "staging">): Promise<void> {
  await rm(staging, { recursive: true, force: true });
}

/** Removes empty directories from `innermost` outwards, up to and with `outermost`. */
export async function removeEmpty(innermost: string, outermost: string): Promise<void> {
  for (let at = innermost; at.length >= outermost.length; at = dirname(at)) {
    if (!(await removedIfEmpty(at))) return;
  }
}

/** False if the directory is not empty. */
export async function removedIfEmpty(directory: string): Promise<boolean> {
  try {
    await rmdir(directory);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") return true;
    if (code === "ENOTEMPTY" || code === "EEXIST") return false;
    throw error;
  }
}

/** Removes files, and folders that become empty; `folders` lists parents before children. */
export async function removeFiles(
  directory: string,
  paths: readonly string[],
  folders: readonly string[],
): Promise<void> {
  for (const path of paths) await rm(join(directory, path), { force: true });
  for (const folder of [...folders].reverse()) await removedIfEmpty(join(directory, folder));
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
