/**
 * From the paths a user gives (files, folders, patterns, a list of them) to the files to read, in a fixed order, with their
 * sizes. Folders are read recursively; hidden files are left out.
 */
import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { OptionError, SourceError } from "../../errors/index.ts";
import { isHidden, isHiddenFolder, localPath, notLocal } from "../../files/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import { describe } from "../options.ts";
import { expandBraces, hasPattern, segmentMatcher } from "./glob.ts";

export interface SourceFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: Bytes;
  /** The part of the path that the user gave or that was found under it: where `k=v` folders count. */
  readonly shown: string;
}

export function bytesOf(files: readonly SourceFile[]): Bytes {
  return files.reduce((sum, file) => sum + file.bytes, 0);
}

export type Paths = string | URL | readonly (string | URL)[];

export function pathTexts(paths: Paths, operator: string): readonly string[] {
  const list = typeof paths === "string" || paths instanceof URL ? [paths] : paths;
  if (!Array.isArray(list)) {
    throw new OptionError(`${operator}: a path is a text, or several are an array of them, not ${describe(paths)}.`);
  }
  if (list.length === 0) throw new OptionError(`${operator}: give at least one path.`);
  return list.map((path: string | URL) => pathText(path, operator));
}

function pathText(path: string | URL, operator: string): string {
  if (!(path instanceof URL) && (typeof path !== "string" || path === ""))
    throw new OptionError(`${operator}: a path is a text that is not empty.`);
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
        `${operator}: nothing matches ${path} (looked in ${resolve(path.replace(/[*?[{].*$/s, ""))}; hidden files and those that begin with _ are left out).`,
        path,
      );
    }
  }
  return [...found.values()];
}

async function filesAt(path: string, operator: string): Promise<readonly SourceFile[]> {
  const info = await stat(path).catch(() => null);
  if (info?.isDirectory() === true) return inFolder(path, operator, new Set());
  if (info !== null) return [{ path: resolve(path), bytes: info.size, shown: path }];
  if (!hasPattern(path)) {
    throw new SourceError(`${operator}: there is no file or folder ${path} (${resolve(path)}).`, path);
  }
  const found: SourceFile[] = [];
  for (const pattern of expandBraces(path)) found.push(...(await matching(pattern, operator)));
  return found.sort(byPath);
}

const byPath = (a: SourceFile, b: SourceFile) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);

async function inFolder(folder: string, operator: string, above: ReadonlySet<string>): Promise<readonly SourceFile[]> {
  const found: SourceFile[] = [];
  const real = await realpath(folder);
  // A link to a folder above would go round for ever.
  if (above.has(real)) return found;
  const within = new Set([...above, real]);
  for (const entry of await entriesOf(folder, operator)) {
    if (isHiddenFolder(entry.name)) continue;
    const path = join(folder, entry.name);
    const info = await statOf(path, operator);
    if (info.isDirectory()) found.push(...(await inFolder(path, operator, within)));
    else if (info.isFile() && !isHidden(entry.name)) {
      found.push({ path: resolve(path), bytes: info.size, shown: path });
    }
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
  for (const entry of await entriesOf(here, operator)) {
    if (matches(entry.name, entry.isFile())) found.push(...(await walk(join(folder, entry.name), rest, operator)));
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

async function statOf(path: string, operator: string) {
  try {
    return await stat(path);
  } catch (error) {
    throw unreadable(path, operator, error);
  }
}

function unreadable(path: string, operator: string, error: unknown): SourceError {
  return new SourceError(
    `${operator}: ${path} cannot be read: ${error instanceof Error ? error.message : error}`,
    path,
  );
}
