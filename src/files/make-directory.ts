/**
 * Makes a directory with its parents. Replaces Node's own function, which never returns if an existing parent takes no
 * directories (/proc), and reports a read-only file system as ENOENT.
 */
import { accessSync, constants, mkdirSync, type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { codeOf } from "../realm/index.ts";

/** Undefined also for a path below a file. */
function foundAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (codeOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Why a directory cannot be made here, as far as that is known without trying; null: no reason is known. */
export function whyNotMade(path: string): string | null {
  for (let at = resolve(path); ; at = dirname(at)) {
    const found = foundAt(at);
    if (found === undefined && dirname(at) !== at) continue;
    if (found === undefined || !found.isDirectory()) return `${at} is not a directory`;
    try {
      accessSync(at, constants.W_OK | constants.X_OK);
      return null;
    } catch (error) {
      return `${at} cannot be written to (${codeOf(error) ?? String(error)})`;
    }
  }
}

/** Other processes may remove an empty parent at the same moment; it is then made again, this many times. */
const TRIES = 10;

/** Returns the outermost directory that had to be made; null if all existed. */
export function makeDirectory(path: string, mode = 0o777): string | null {
  for (let tries = 1; ; tries++) {
    try {
      return make(resolve(path), mode);
    } catch (error) {
      const code = codeOf(error);
      if (tries === TRIES || (code !== "ENOENT" && code !== "EEXIST")) throw error;
    }
  }
}

function make(path: string, mode: number): string | null {
  try {
    return makeOne(path, mode);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || dirname(path) === path) throw error;
  }
  const outermost = make(dirname(path), mode);
  const made = makeOne(path, mode);
  return outermost ?? made;
}

function makeOne(path: string, mode: number): string | null {
  try {
    mkdirSync(path, { mode });
    return path;
  } catch (error) {
    if (codeOf(error) === "EEXIST" && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return null;
    throw error;
  }
}
