/**
 * The place that a write goes to, checked before anything runs: the directory with links resolved, whether the mode
 * allows what is in it, and where tasks put their files until the job is complete.
 */
import { access, constants, lstat, readFile, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { OptionError, WriteError } from "../errors/index.ts";
import {
  firstData,
  hasDataAlready,
  localPath,
  notLocal,
  refusedOverwrite,
  surveyTree,
  whyProtected,
} from "../files/index.ts";
import type { FileFormat, FileSink } from "../protocol/index.ts";
import { codeOf, isUrl, messageOf } from "../realm/index.ts";
import { describe } from "./options.ts";

interface WritePlace {
  /** Absolute, as the user gave it. */
  readonly shown: string;
  /** The directory, with links resolved. */
  readonly directory: string;
  /**
   * The directory for the job's staging directory. It is on the same file system, so that files are moved and not
   * copied.
   */
  readonly stagingIn: string;
}

export function localDirectory(operator: string, given: string | URL): string {
  if (!isUrl(given) && (typeof given !== "string" || given === "")) {
    throw new OptionError(`${operator}: the directory is ${describe(given)}; it must be a non-empty text.`);
  }
  if (String(given).includes("\0"))
    throw new OptionError(`${operator}: the directory's name contains a NUL character.`);
  const local = localPath(given);
  if (local === null) throw new WriteError(`${operator}: ${notLocal(given, "written")}`, String(given));
  return resolve(local);
}

export async function findPlace(
  operator: string,
  shown: string,
  mode: FileSink["mode"],
  format: FileFormat,
): Promise<WritePlace> {
  const refuse = (why: string) => new WriteError(`${operator}: ${why}`, shown);
  const { existing, missing } = await resolveLinks(shown, refuse);
  const info = await stat(existing);
  if (missing.length > 0) {
    if (!info.isDirectory()) throw refuse(`${shown} cannot be made: ${existing} is not a directory.`);
    await checkWritable(existing, refuse, `${shown} cannot be made`);
    return { shown, directory: join(existing, ...missing), stagingIn: existing };
  }
  if (!info.isDirectory()) {
    throw refuse(`${shown} is a file. Give a directory: a dataset is written as several files.`);
  }
  await checkWritable(existing, refuse, `${shown} cannot be written`);
  await judge(shown, existing, mode, format, refuse).catch((error: unknown) => {
    throw error instanceof WriteError ? error : refuse(`${shown} cannot be examined: ${messageOf(error)}.`);
  });
  return { shown, directory: existing, stagingIn: (await canBeExchanged(existing)) ? dirname(existing) : existing };
}

async function judge(
  shown: string,
  directory: string,
  mode: FileSink["mode"],
  format: FileFormat,
  refuse: (why: string) => WriteError,
): Promise<void> {
  if (mode === "overwrite") {
    const why = whyProtected(directory);
    if (why !== null) {
      throw refuse(
        `mode "overwrite" is refused for ${shown}: ${why}. Nothing was changed. Write to a directory of its own.`,
      );
    }
    const { foreign } = await surveyTree(directory, format);
    if (foreign !== null) throw refuse(refusedOverwrite(shown, foreign));
  } else if (mode === "error") {
    const data = await firstData(directory);
    if (data !== null) throw refuse(await hasDataAlready(shown, data, format));
  }
}

/**
 * Errors for a path that does not exist but could be made, or whose parent is a file. Other errors mean, for example, a
 * name that is too long or a directory without access.
 */
const NOT_THERE: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR"]);

/** The existing part of the path with links resolved, and the names below it that are missing. */
async function resolveLinks(
  path: string,
  refuse: (why: string) => WriteError,
): Promise<{ existing: string; missing: readonly string[] }> {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return { existing: await realpath(at), missing };
    } catch (error) {
      // `lstat` looks at the name itself; `realpath` reports the first missing part.
      const link = await lstat(at).catch((cause: unknown) => {
        if (NOT_THERE.has(codeOf(cause) ?? "")) return null;
        throw refuse(`${path} cannot be made: ${messageOf(cause)}.`);
      });
      if (link?.isSymbolicLink() === true) {
        throw refuse(`${at} is a link to ${await readlink(at)}, which cannot be used: ${messageOf(error)}.`);
      }
      // The path was made at this moment.
      if (link !== null) return { existing: await realpath(at), missing };
      missing.unshift(basename(at));
    }
  }
}

async function checkWritable(directory: string, refuse: (why: string) => WriteError, what: string): Promise<void> {
  await access(directory, constants.W_OK | constants.X_OK).catch((error: unknown) => {
    throw refuse(`${what}: ${directory} cannot be written to (${messageOf(error)}).`);
  });
}

/** Whether another directory next to it can take its place: same file system, and a writable parent. */
async function canBeExchanged(directory: string): Promise<boolean> {
  const parent = dirname(directory);
  if (parent === directory || (await stat(parent)).dev !== (await stat(directory)).dev) return false;
  const isWritable = await access(parent, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  return isWritable && !(await isMountPoint(directory));
}

/** Also true if a directory of the same file system is mounted there: no file can be moved across the mount. */
async function isMountPoint(directory: string): Promise<boolean> {
  const mounts = await readFile("/proc/self/mountinfo", "utf8").catch(() => "");
  return mounts.split("\n").some((line) => unescaped(line.split(" ")[4] ?? "") === directory);
}

/** `/proc` writes a space as `\040`. */
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}
