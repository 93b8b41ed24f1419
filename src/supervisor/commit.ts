/**
 * Puts a finished job's files in place, all or none. Tasks wrote them into a staging directory; here they get their
 * names in the user's directory. If that does not exist, the staging directory becomes it. An overwrite exchanges the
 * two. Else files are moved one by one: new files in first, then old files out.
 */
import { lstat, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { WriteError } from "../errors/index.ts";
import {
  asideName,
  firstData,
  hasDataAlready,
  makeDirectory,
  markStaging,
  refusedOverwrite,
  STAGING_MARK,
  surveyTree,
  unmarkStaging,
} from "../files/index.ts";
import { renameToFree } from "../native/index.ts";
import type { FileSink } from "../protocol/index.ts";
import { codeOf, messageOf } from "../realm/index.ts";
import type { FileOutput } from "../scheduler/index.ts";
import { locked } from "./directory-lock.ts";
import { exchanged } from "./exchange.ts";
import { discardFiles, Moves, removedIfEmpty, removeEmpty, removeFiles } from "./moves.ts";
import type { ReplacedDirectory } from "./session-files.ts";

/** `replacing` is called with an old directory before it is replaced. */
export async function commitFiles(
  { sink, files }: FileOutput,
  replacing: (old: ReplacedDirectory) => void,
): Promise<void> {
  const { directory, staging } = sink;
  const paths = files.map(({ path }) => path);
  try {
    await leaveOnly(staging, paths);
    while ((await putInPlace(sink, paths, replacing)) === "moved");
  } catch (error) {
    await discardFiles(sink);
    if (error instanceof WriteError) throw error;
    const cause = messageOf(error);
    throw new WriteError(`Writing to ${directory} failed: ${cause}. Nothing was changed there.`, directory);
  }
}

/** "moved": another process changed the directory; it must be examined again. */
async function putInPlace(
  sink: FileSink,
  paths: readonly string[],
  replacing: (old: ReplacedDirectory) => void,
): Promise<"done" | "moved"> {
  const there = await lstat(sink.directory).catch(() => null);
  if (there === null) return becomeDirectory(sink);
  return locked<"done">(sink.directory, async () => {
    await intoDirectory(sink, paths, replacing);
    return "done";
  });
}

async function becomeDirectory({ directory, staging }: FileSink): Promise<"done" | "moved"> {
  const parent = dirname(directory);
  const made = makeDirectory(parent);
  unmarkStaging(staging);
  const why = renameToFree(staging, directory);
  if (why === null) return "done";
  if (why === "EEXIST") {
    markStaging(staging);
    return "moved";
  }
  try {
    // For file systems that cannot rename without replacing: replacing an empty directory does no harm.
    await rename(staging, directory);
    return "done";
  } catch (error) {
    if (made !== null) await removeEmpty(parent, made);
    if (["ENOTEMPTY", "EEXIST"].includes(codeOf(error) ?? "")) {
      return "moved";
    }
    throw error;
  }
}

async function intoDirectory(
  sink: FileSink,
  paths: readonly string[],
  replacing: (old: ReplacedDirectory) => void,
): Promise<void> {
  const { directory, staging, mode, format } = sink;
  if (mode === "error") {
    const data = await firstData(directory);
    if (data !== null) throw new WriteError(await hasDataAlready(directory, data, format), directory);
  }
  if (mode === "overwrite") {
    const tree = await surveyTree(directory, format);
    if (tree.foreign !== null) throw new WriteError(refusedOverwrite(directory, tree.foreign), directory);
    if (tree.replaced.length > 0) {
      if (await exchanged(sink, tree, replacing)) return;
      await replaceOneByOne(sink, paths, tree.replaced, tree.folders);
      return;
    }
  }
  const moves = new Moves();
  try {
    await moves.all(paths, staging, directory);
  } catch (error) {
    await moves.undo();
    throw error;
  }
  await discardFiles(sink);
}

async function replaceOneByOne(
  sink: FileSink,
  paths: readonly string[],
  old: readonly string[],
  folders: readonly string[],
): Promise<void> {
  const { directory, staging } = sink;
  const aside = asideName(staging);
  const moves = new Moves();
  try {
    await moves.all(paths, staging, directory);
    makeDirectory(aside);
    markStaging(aside);
    await moves.all(old, directory, aside);
  } catch (error) {
    // Files that cannot be moved back are the user's data and must not be removed.
    unmarkStaging(aside);
    await moves.undo();
    await rm(aside, { recursive: true, force: true });
    throw error;
  }
  await removeFiles(directory, [], folders);
  await rm(aside, { recursive: true, force: true });
  await discardFiles(sink);
}

/** Makes sure that the staging directory has exactly these files: a dead worker may have left others. */
async function leaveOnly(staging: string, paths: readonly string[]): Promise<void> {
  makeDirectory(staging);
  const mark = join(staging, STAGING_MARK);
  const wanted = new Set(paths);
  const entries = await readdir(staging, { recursive: true, withFileTypes: true });
  const folders: string[] = [];
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) folders.push(path);
    else if (!wanted.delete(relative(staging, path)) && path !== mark) await rm(path);
  }
  const [missing] = wanted;
  if (missing !== undefined) throw new Error(`${join(staging, missing)} no longer exists`);
  for (const folder of folders.sort().reverse()) await removedIfEmpty(folder);
}
