/**
 * What tells a staging directory, where a job's files are before they get their names, from a directory of the user's:
 * its name, and a file in it that only who made it can have put there. Both are needed before somebody removes it after
 * a crash.
 */
import { closeSync, openSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { codeOf } from "../realm/index.ts";

export const STAGING_MARK = ".spillway-staging";
const NAME = /^\.spillway-[0-9a-f]{8}(\.replaced)?$/;

/** Where the old files go that a job replaces one by one. */
export function asideName(staging: string): string {
  return `${staging}.replaced`;
}

export function isStagingName(path: string): boolean {
  return NAME.test(basename(path));
}

/** Once made, it stays as it is. */
export function markStaging(directory: string): void {
  try {
    closeSync(openSync(join(directory, STAGING_MARK), "wx", 0o600));
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/** At the last moment before it becomes the user's own directory. */
export function unmarkStaging(directory: string): void {
  rmSync(join(directory, STAGING_MARK), { force: true });
}
