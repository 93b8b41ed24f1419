/**
 * Makes the arena's file and removes it. The file is in /dev/shm if that has room for the capacity; otherwise in the
 * session's directory, which is slower under pressure and gives a notice. The ledger decides who may use which bytes of
 * it.
 */

import { closeSync, constants, existsSync, ftruncateSync, openSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "../errors/index.ts";
import type { ArenaPlace, Bytes, Notice } from "../protocol/index.ts";
import { formatSize } from "../units/index.ts";
import { PAGE } from "./ranges.ts";

export const SHARED_MEMORY = "/dev/shm";
/**
 * The file is sparse and this many times the capacity, so that a long enough stretch of addresses is always free.
 * Addresses cost nothing; pages do.
 */
const SPARSE = 8;

export interface Arena {
  readonly place: ArenaPlace;
  readonly fd: number;
  /** What the user should know about the place of the file. */
  readonly notice: Notice | null;
}

export function arenaName(session: string): string {
  return `spillway-${session}`;
}

export function createArena(
  session: string,
  capacity: Bytes,
  sessionDirectory: string,
  sharedMemory: string = SHARED_MEMORY,
): Arena {
  if (!(capacity >= PAGE)) {
    throw new StoreError(
      `A store of ${formatSize(capacity)} is too small: objectStoreMemory must be at least ${formatSize(PAGE)}.`,
    );
  }
  const free = existsSync(sharedMemory) ? freeBytes(sharedMemory) : 0;
  const shared = free >= capacity;
  const path = join(shared ? sharedMemory : sessionDirectory, arenaName(session));
  if (!shared) {
    const freeOnDisk = freeBytes(sessionDirectory);
    if (freeOnDisk < capacity) {
      throw new StoreError(
        `The store needs ${formatSize(capacity)}: ${sharedMemory} has ${formatSize(free)} free and ${sessionDirectory} has ` +
          `${formatSize(freeOnDisk)}. Choose a smaller objectStoreMemory, another localDirectory, or enlarge ${sharedMemory}.`,
      );
    }
  }
  const size = Math.ceil(capacity / PAGE) * PAGE * SPARSE;
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    ftruncateSync(fd, size);
  } catch (error) {
    closeSync(fd);
    rmSync(path, { force: true });
    throw new StoreError(`The arena ${path} of ${size} bytes cannot be made: ${(error as Error).message}.`);
  }
  const notice: Notice | null = shared
    ? null
    : { kind: "storeOnDisk", sharedMemory, free, capacity, directory: sessionDirectory };
  return { place: { path, size, capacity }, fd, notice };
}

export function removeArena(arena: Arena): void {
  closeSync(arena.fd);
  rmSync(arena.place.path, { force: true });
}

function freeBytes(directory: string): Bytes {
  const stats = statfsSync(directory);
  return stats.bavail * stats.bsize;
}
