/**
 * Turns the paths that a user gives (files, folders, patterns, a list of them) into the files to read, in a fixed
 * order, with their sizes. Folders are read recursively; hidden files are left out.
 */
import { type Dirent, type Stats, statSync } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { OptionError, SourceError } from "../../errors/index.ts";
import { isHidden, isHiddenFolder, localPath, notLocal } from "../../files/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import { isUrl, messageOf } from "../../realm/index.ts";
import { describe } from "../options.ts";
import { expandBraces, hasPattern, segmentMatcher } from "./glob.ts";
import { inRounds } from "./rounds.ts";

export interface SourceFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: Bytes;
  /** When the file was last written to, in milliseconds. */
  readonly writtenAt: number;
  /** The file's number on its disk. A file that replaced it has another one. */
  readonly inode?: number;
  /**
   * If only a part of the file is read: where it starts and ends, out of how many bytes. `bytes` is then the size of
   * the part.
   */
  readonly part?: { readonly start: Bytes; readonly end: Bytes; readonly of: Bytes };
  /** The path as the user gave it, or as it was found below that. `k=v` folders count in this part of the path only. */
  readonly shown: string;
}

export interface ListedFiles {
  readonly files: readonly SourceFile[];
  /** When the first of them was examined at the earliest, by `performance.now()`. */
  readonly examinedAt: number;
}

export function bytesOf(files: readonly SourceFile[]): Bytes {
  return files.reduce((sum, file) => sum + file.bytes, 0);
}

/**
 * Throws if a file has changed: a plan that was made from the contents of files holds only as long as they stay the
 * same. `since`: when the call began that reads the files. If it examined them itself, they are not looked at again.
 */
export function checkUnchanged({ files, examinedAt }: ListedFiles, since: number | undefined, operator: string): void {
  if (since !== undefined && examinedAt >= since) return;
  for (const { path, shown, bytes: own, part, writtenAt } of files) {
    const bytes = part?.of ?? own;
    const now = statSync(path, { throwIfNoEntry: false });
    if (now?.size === bytes && now.mtimeMs === writtenAt) continue;
    const what = now === undefined ? "is gone" : `has changed (${bytes} bytes then, ${now.size} now)`;
    throw new SourceError(
      `${operator}: ${shown} ${what} since this dataset examined it. Call ${operator} again to read its new content.`,
      path,
    );
  }
}

export type Paths = string | URL | readonly (string | URL)[];

export function pathTexts(paths: Paths, operator: string): readonly string[] {
  const list = typeof paths === "string" || isUrl(paths) ? [paths] : paths;
  if (!Array.isArray(list)) {
    throw new OptionError(
      `${operator}: a path must be a text, and several paths an array of texts, not ${describe(paths)}.`,
    );
  }
  if (list.length === 0) throw new OptionError(`${operator}: give at least one path.`);
  return list.map((path: string | URL) => pathText(path, operator));
}

function pathText(path: string | URL, operator: string): string {
  if (!isUrl(path) && (typeof path !== "string" || path === ""))
    throw new OptionError(`${operator}: a path must be a non-empty text.`);
  const local = localPath(path);
  if (local === null) throw new SourceError(`${operator}: ${notLocal(path, "read")}`, String(path));
  return local;
}

export async function listFiles(paths: readonly string[], operator: string): Promise<ListedFiles> {
  const examinedAt = performance.now();
  const found = new Map<string, SourceFile>();
  for (const path of paths) {
    const before = found.size;
    let matches = 0;
    for (const file of await filesAt(path, operator)) {
      matches++;
      if (!found.has(file.path)) found.set(file.path, file);
    }
    if (matches === 0 && found.size === before) {
      throw new SourceError(
        `${operator}: nothing matches ${path} (looked in ${resolve(path.replace(/[*?[{].*$/s, ""))}; hidden files and files that begin with _ are left out).`,
        path,
      );
    }
  }
  return { files: [...found.values()], examinedAt };
}

async function filesAt(path: string, operator: string): Promise<readonly SourceFile[]> {
  const info = await stat(path).catch(() => null);
  if (info?.isDirectory() === true) return inFolder(path, operator, new Set());
  if (info !== null) return [regular({ file: fileOf(path, info), isRegular: info.isFile() }, path, operator)];
  if (!hasPattern(path)) {
    const absolute = resolve(path) === path ? "" : ` (${resolve(path)})`;
    throw new SourceError(`${operator}: there is no file or folder ${path}${absolute}.`, path);
  }
  const found: SourceFile[] = [];
  for (const pattern of expandBraces(path)) found.push(...(await matching(pattern, operator)));
  return found.sort(byPath);
}

const FOLDERS_AT_ONCE = 64;
const byPath = (a: SourceFile, b: SourceFile) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);

async function inFolder(folder: string, operator: string, above: ReadonlySet<string>): Promise<readonly SourceFile[]> {
  const real = await realpath(folder);
  // A link to a folder above it would be followed for ever.
  if (above.has(real)) return [];
  const within = new Set([...above, real]);
  const entries = (await entriesOf(folder, operator)).filter(({ name }) => !isHiddenFolder(name));
  const paths = entries.map(({ name }) => join(folder, name));
  const infos = await statsOf(paths, operator);
  const found: SourceFile[] = [];
  for (const [i, { name }] of entries.entries()) {
    const info = infos[i];
    if (info === "folder") for (const file of await inFolder(paths[i] ?? "", operator, within)) found.push(file);
    else if (info?.isRegular === true && !isHidden(name)) found.push(info.file);
  }
  return found;
}

/**
 * What is at a path. The system's `Stats` of 100,000 files take more memory than these few fields, so they are dropped.
 */
type Entry = NonFolder | "folder";

interface NonFolder {
  readonly file: SourceFile;
  readonly isRegular: boolean;
}

function entryOf(path: string, info: Stats): Entry {
  return info.isDirectory() ? "folder" : { file: fileOf(path, info), isRegular: info.isFile() };
}

/** A pipe or a device has no size and can be read once only, so it cannot be examined before it is read. */
function regular(entry: NonFolder, path: string, operator: string): SourceFile {
  if (entry.isRegular) return entry.file;
  throw new SourceError(
    `${operator}: ${path} is a pipe, a socket or a device, not a file. Write its content to a file, or give rows to fromItems.`,
    path,
  );
}

function fileOf(path: string, info: Stats): SourceFile {
  return { path: resolve(path), bytes: info.size, writtenAt: info.mtimeMs, inode: info.ino, shown: path };
}

function statsOf(paths: readonly string[], operator: string): Promise<readonly Entry[]> {
  return inRounds(
    paths,
    (path) => entryOf(path, statNow(path, operator)),
    async (path) => entryOf(path, await statOf(path, operator)),
  );
}

/** The files found under each folder, in the order of the folders. */
async function severalAtOnce(
  folders: readonly string[],
  find: (folder: string) => Promise<readonly SourceFile[]>,
): Promise<readonly SourceFile[]> {
  const found: SourceFile[] = [];
  for (let at = 0; at < folders.length; at += FOLDERS_AT_ONCE) {
    for (const some of await Promise.all(folders.slice(at, at + FOLDERS_AT_ONCE).map(find))) found.push(...some);
  }
  return found;
}

async function matching(pattern: string, operator: string): Promise<readonly SourceFile[]> {
  const segments = pattern.split(sep).filter((segment, i) => segment !== "" || i === 0);
  const first = segments.findIndex(hasPattern);
  if (first < 0) return (await stat(pattern).catch(() => null)) === null ? [] : filesAt(pattern, operator);
  const base = segments.slice(0, first).join(sep);
  const root = base === "" && pattern.startsWith(sep) ? sep : base;
  return walk(root, segments.slice(first), operator);
}

async function walk(folder: string, segments: readonly string[], operator: string): Promise<readonly SourceFile[]> {
  const [segment, ...rest] = segments;
  if (segment === undefined) return filesAt(folder, operator);
  const here = folder === "" ? "." : folder;
  const info = await stat(here).catch(() => null);
  if (info?.isDirectory() !== true) return [];
  const found: SourceFile[] = [];
  if (segment === "**") {
    found.push(...(rest.length === 0 ? await inFolder(here, operator, new Set()) : await walk(folder, rest, operator)));
    if (rest.length === 0) return found;
    for (const entry of await entriesOf(here, operator)) {
      if (entry.isDirectory() && !isHiddenFolder(entry.name)) {
        found.push(...(await walk(join(folder, entry.name), segments, operator)));
      }
    }
    return found;
  }
  const matches = segmentMatcher(segment);
  const matched = (await entriesOf(here, operator)).filter((entry) => matches(entry.name, entry.isFile()));
  const paths = matched.map(({ name }) => join(folder, name));
  if (rest.length > 0) return severalAtOnce(paths, (path) => walk(path, rest, operator));
  const infos = await statsOf(paths, operator);
  for (const [i, info] of infos.entries()) {
    if (info !== "folder") found.push(regular(info, paths[i] ?? "", operator));
    else for (const file of await inFolder(paths[i] ?? "", operator, new Set())) found.push(file);
  }
  return found;
}

async function entriesOf(folder: string, operator: string): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  } catch (error) {
    throw unreadable(folder, operator, error);
  }
}

async function statOf(path: string, operator: string): Promise<Stats> {
  return stat(path).catch((error: unknown) => {
    throw unreadable(path, operator, error);
  });
}

function statNow(path: string, operator: string): Stats {
  try {
    return statSync(path);
  } catch (error) {
    throw unreadable(path, operator, error);
  }
}

function unreadable(path: string, operator: string, error: unknown): SourceError {
  return new SourceError(`${operator}: ${path} cannot be read: ${messageOf(error)}`, path);
}
