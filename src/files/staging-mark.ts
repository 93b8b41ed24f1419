/**
 * Tells staging directories, which hold a job's files before they get their names, from directories of the user: by the
 * name, and by a marker file that only the owner can have written. Both are required before a directory is removed
 * after a crash.
 */
import { closeSync, openSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { codeOf } from "../realm/index.ts";

export const STAGING_MARK = ".spillway-staging";
const NAME = /^\.spillway-[0-9a-f]{8}(\.replaced)?$/;

/** Holds the old files that a job replaces one by one. */
export function asideName(staging: string): string {
  return `${staging}.replaced`;
}

export function isStagingName(path: string): boolean {
  return NAME.test(basename(path));
}

/** An existing mark stays unchanged. */
export function markStaging(directory: string): void {
  try {
    closeSync(openSync(join(directory, STAGING_MARK), "wx", 0o600));
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/** Called just before the directory becomes the user's own. */
export function unmarkStaging(directory: string): void {
  rmSync(join(directory, STAGING_MARK), { force: true });
}
