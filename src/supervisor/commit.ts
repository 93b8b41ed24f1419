/**
 * Puts a finished job's files in their place, all of them or none: tasks wrote them into a staging directory, and
 * only here do they get their names in the directory the user asked for. What an overwrite replaces is moved aside
 * first and put back if anything goes wrong.
 */
import { access, readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { WriteError } from "../errors/index.ts";
import { makeDirectory } from "../files/index.ts";
import type { FileSink } from "../protocol/index.ts";
import type { FileOutput } from "../scheduler/index.ts";

interface Move {
  readonly from: string;
  readonly to: string;
}

export async function commitFiles({ sink, files }: FileOutput): Promise<void> {
  const { directory, staging, mode } = sink;
  const moved: Move[] = [];
  const aside: Move[] = [];
  try {
    makeDirectory(directory);
    if (mode !== "append") {
      const old = await dataFiles(directory, staging);
      if (mode === "error" && old[0] !== undefined) {
        throw new WriteError(
          `${directory} has data already (${old[0]}). Write to another directory, or use mode "overwrite" or "append".`,
          directory,
        );
      }
      for (const path of old) await move(join(directory, path), join(replaced(sink), path), aside);
    }
    for (const { path } of files) {
      const to = join(directory, path);
      if (await exists(to)) throw new WriteError(`${to} is there already and is not replaced.`, to);
      await move(join(staging, path), to, moved);
    }
  } catch (error) {
    await undo([...aside, ...moved].reverse());
    await discardFiles(sink);
    if (error instanceof WriteError) throw error;
    throw new WriteError(
      `Writing to ${directory} failed: ${(error as Error).message}. Nothing was changed there.`,
      directory,
    );
  }
  await discardFiles(sink);
  await removeEmptied(directory, aside);
}

/** Removes what was staged, and what was replaced. */
export async function discardFiles(sink: FileSink): Promise<void> {
  await rm(sink.staging, { recursive: true, force: true });
  await rm(replaced(sink), { recursive: true, force: true });
}

/** Next to the staging directory, and so on the same file system as the data. */
function replaced({ staging }: FileSink): string {
  return `${staging}.replaced`;
}

async function move(from: string, to: string, done: Move[]): Promise<void> {
  makeDirectory(dirname(to));
  await rename(from, to);
  done.push({ from, to });
}

async function undo(moves: readonly Move[]): Promise<void> {
  for (const { from, to } of moves) {
    makeDirectory(dirname(from));
    await rename(to, from);
  }
}

/** Paths of the files that a reader of the directory would read: hidden and underscore names are nobody's data. */
async function dataFiles(directory: string, staging: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const parts = relative(directory, path).split(sep);
    const isHidden = parts.some((part) => part.startsWith(".") || part.startsWith("_"));
    const isStaged = `${resolve(path)}${sep}`.startsWith(`${resolve(staging)}${sep}`);
    if (!entry.isDirectory() && !isHidden && !isStaged) found.push(parts.join(sep));
  }
  return found;
}

/** Partition directories that an overwrite has emptied. */
async function removeEmptied(directory: string, aside: readonly Move[]): Promise<void> {
  const candidates = new Set<string>();
  for (const { from } of aside) {
    for (let at = dirname(from); at !== directory && at.startsWith(directory); at = dirname(at)) candidates.add(at);
  }
  for (const candidate of [...candidates].sort((a, b) => b.length - a.length)) {
    try {
      await rmdir(candidate);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "ENOENT") throw error;
    }
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
