/**
 * From the paths a user gives (files, folders, patterns, a list of them) to the files to read, in a fixed order, with
 * their sizes. Folders are read recursively; hidden files are left out.
 */
import { type Dirent, type Stats, statSync } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { setImmediate } from "node:timers/promises";
import { OptionError, SourceError } from "../../errors/index.ts";
import { isHidden, isHiddenFolder, localPath, notLocal } from "../../files/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import { isUrl, messageOf } from "../../realm/index.ts";
import { describe } from "../options.ts";
import { expandBraces, hasPattern, segmentMatcher } from "./glob.ts";

export interface SourceFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: Bytes;
  /** When it was written to last, in milliseconds. */
  readonly writtenAt: number;
  /** Its number on its disk; a file that took its place has another. */
  readonly inode?: number;
  /** Where it is read from, and to, of all its bytes, where that is not all of it; `bytes` are those between. */
  readonly part?: { readonly start: Bytes; readonly end: Bytes; readonly of: Bytes };
  /** The part of the path that the user gave or that was found under it: where `k=v` folders count. */
  readonly shown: string;
}

export function bytesOf(files: readonly SourceFile[]): Bytes {
  return files.reduce((sum, file) => sum + file.bytes, 0);
}

/** What is planned by what was found in files holds only as long as they stay as they are. */
export function checkUnchanged(files: readonly SourceFile[], operator: string): void {
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

export async function listFiles(paths: readonly string[], operator: string): Promise<readonly SourceFile[]> {
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
  return [...found.values()];
}

async function filesAt(path: string, operator: string): Promise<readonly SourceFile[]> {
  const info = await stat(path).catch(() => null);
  if (info?.isDirectory() === true) return inFolder(path, operator, new Set());
  if (info !== null) return [fileOf(path, info)];
  if (!hasPattern(path)) {
    throw new SourceError(`${operator}: there is no file or folder ${path} (${resolve(path)}).`, path);
  }
  const found: SourceFile[] = [];
  for (const pattern of expandBraces(path)) found.push(...(await matching(pattern, operator)));
  return found.sort(byPath);
}

const AT_ONCE = 64;
/** For so many files; a local disk takes a fifth of a millisecond. */
const SLOW_MS = 20;
const byPath = (a: SourceFile, b: SourceFile) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);

async function inFolder(folder: string, operator: string, above: ReadonlySet<string>): Promise<readonly SourceFile[]> {
  const real = await realpath(folder);
  // A link to a folder above would go round for ever.
  if (above.has(real)) return [];
  const within = new Set([...above, real]);
  const entries = (await entriesOf(folder, operator)).filter(({ name }) => !isHiddenFolder(name));
  const paths = entries.map(({ name }) => join(folder, name));
  const infos = await statsOf(paths, operator);
  const found: SourceFile[] = [];
  for (const [i, { name }] of entries.entries()) {
    const [path = "", info] = [paths[i], infos[i]];
    if (info?.isDirectory() === true) found.push(...(await inFolder(path, operator, within)));
    else if (info?.isFile() === true && !isHidden(name)) found.push(fileOf(path, info));
  }
  return found;
}

function fileOf(path: string, info: Stats): SourceFile {
  return { path: resolve(path), bytes: info.size, writtenAt: info.mtimeMs, inode: info.ino, shown: path };
}

/**
 * Of a local disk, asking on this thread takes a fifth of the time that asking on another does. A disk that is slow to
 * answer is asked many things at once; so is one that only seemed slow, because another process had the core, but not
 * for long: it is tried again after one round, then after two, four, …
 */
async function statsOf(paths: readonly string[], operator: string): Promise<readonly Stats[]> {
  const infos: Stats[] = [];
  let roundsElsewhere = 0;
  let penalty = 1;
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    const some = paths.slice(at, at + AT_ONCE);
    if (roundsElsewhere > 0) {
      roundsElsewhere--;
      infos.push(...(await Promise.all(some.map((path) => statOf(path, operator)))));
    } else {
      const start = performance.now();
      for (const path of some) infos.push(statNow(path, operator));
      const isSlow = performance.now() - start > SLOW_MS;
      roundsElsewhere = isSlow ? penalty : 0;
      penalty = isSlow ? 2 * penalty : 1;
    }
    await setImmediate();
  }
  return infos;
}

/** What is found under each folder, in their order. */
async function severalAtOnce(
  folders: readonly string[],
  find: (folder: string) => Promise<readonly SourceFile[]>,
): Promise<readonly SourceFile[]> {
  const found: SourceFile[] = [];
  for (let at = 0; at < folders.length; at += AT_ONCE) {
    for (const some of await Promise.all(folders.slice(at, at + AT_ONCE).map(find))) found.push(...some);
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
    const path = paths[i] ?? "";
    if (info.isDirectory()) found.push(...(await inFolder(path, operator, new Set())));
    else found.push(fileOf(path, info));
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
