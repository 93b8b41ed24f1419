/**
 * Lets one job at a time put its files into a directory, over all sessions of the machine. Uses a system lock on the
 * directory itself, which leaves no file and ends with the process.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
import { setTimeout as after } from "node:timers/promises";
import { WriteError } from "../errors/index.ts";
import { tryLock } from "../native/index.ts";
import { codeOf } from "../realm/index.ts";

/** Putting files in place is one rename per file: a job that takes this long hangs. */
const PATIENCE_MS = 120_000;
const POLL_MS = 10;

/** Calls `run` with the lock; "moved": the directory is gone, or another one is in its place. */
export async function locked<T>(directory: string, run: () => Promise<T>): Promise<T | "moved"> {
  const fd = openDirectory(directory);
  if (fd === null) return "moved";
  try {
    await acquire(fd, directory);
    return isAt(fd, directory) ? await run() : "moved";
  } finally {
    closeSync(fd);
  }
}

function openDirectory(directory: string): number | null {
  try {
    return openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** On a file system without locks, only single renames are safe from other processes. */
async function acquire(fd: number, directory: string): Promise<void> {
  for (let waited = 0; tryLock(fd) === "busy"; waited += POLL_MS) {
    if (waited >= PATIENCE_MS) {
      throw new WriteError(
        `${directory} has been locked by another program for ${PATIENCE_MS / 1000} s. Nothing was changed there. Run the job again when that program has ended.`,
        directory,
      );
    }
    await after(POLL_MS);
  }
}

function isAt(fd: number, directory: string): boolean {
  const here = fstatSync(fd);
  const there = lstatSync(directory, { throwIfNoEntry: false });
  return there !== undefined && there.ino === here.ino && there.dev === here.dev;
}
