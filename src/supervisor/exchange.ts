/**
 * Replaces a directory by the staged one in one step of the file system: readers see the old data or the new, and a
 * killed process leaves one of the two.
 */
import { lstatSync } from "node:fs";
import { access, chmod, chown, constants, link, readdir, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { type DatasetTree, makeDirectory, markStaging, unmarkStaging } from "../files/index.ts";
import { exchange, hasAccessList } from "../native/index.ts";
import type { FileSink } from "../protocol/index.ts";
import { messageOf } from "../realm/index.ts";
import { Moves, removedIfEmpty, removeFiles } from "./moves.ts";
import type { ReplacedDirectory } from "./session-files.ts";
import { identityOf } from "./staged-files.ts";

/** `staging` has exactly the new files. Returns false if an exchange is not possible here; nothing is changed then. */
export async function exchanged(
  { directory, staging }: FileSink,
  tree: DatasetTree,
  replacing: (old: ReplacedDirectory) => void,
): Promise<boolean> {
  // Files that other jobs stage inside would move away, and an access list would be lost.
  if (dirname(staging) !== dirname(directory) || tree.isShared || hasAccessList(directory)) return false;
  try {
    // A directory that cannot be emptied later is not exchanged: moving its files one by one gives the error.
    for (const folder of tree.folders) await access(join(directory, folder), constants.W_OK | constants.X_OK);
    await likeBefore(directory, staging, tree.kept);
  } catch {
    return false;
  }
  const { replaced, kept, folders } = tree;
  replacing({
    path: staging,
    identity: identityOf(lstatSync(directory, { bigint: true })),
    files: [...replaced, ...kept],
    folders,
  });
  unmarkStaging(staging);
  if (exchange(staging, directory) !== null) {
    markStaging(staging);
    return false;
  }
  try {
    await removeOld(staging, directory, tree);
  } catch (error) {
    // The new data is in place; only the space of the old data is lost.
    process.stderr.write(`${staging} could not be removed: ${messageOf(error)}\n`);
  }
  return true;
}

/** Gives the new directory the owner and permissions of the old one, and the files that stay. */
async function likeBefore(directory: string, staging: string, kept: readonly string[]): Promise<void> {
  const { uid, gid, mode } = await stat(directory);
  const own = await stat(staging);
  if (uid !== own.uid || gid !== own.gid) await chown(staging, uid, gid);
  await chmod(staging, mode & 0o7777);
  for (const path of kept) {
    makeDirectory(dirname(join(staging, path)));
    await link(join(directory, path), join(staging, path));
  }
}

/** Removes only entries that were checked: a file that appeared since is moved to the new directory. */
async function removeOld(old: string, directory: string, { replaced, kept, folders }: DatasetTree): Promise<void> {
  await removeFiles(old, [...replaced, ...kept], folders);
  if (await removedIfEmpty(old)) return;
  const entries = await readdir(old, { recursive: true, withFileTypes: true });
  const late = entries.flatMap((entry) => (entry.isDirectory() ? [] : [join(entry.parentPath, entry.name)]));
  const below = entries.flatMap((entry) => (entry.isDirectory() ? [join(entry.parentPath, entry.name)] : []));
  await new Moves().all(
    late.map((path) => relative(old, path)),
    old,
    directory,
  );
  await removeFiles(old, [], below.map((path) => relative(old, path)).sort());
  await removedIfEmpty(old);
}
