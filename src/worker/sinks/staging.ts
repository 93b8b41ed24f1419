/** Where files are until their job is complete. Errors there name the directory that the user asked for. */
import { statfsSync } from "node:fs";
import { join } from "node:path";
import { KernelError, WriteError } from "../../errors/index.ts";
import { makeDirectory, markStaging } from "../../files/index.ts";
import type { FileSink } from "../../protocol/index.ts";
import { messageOf } from "../../realm/index.ts";
import { formatSize } from "../../units/index.ts";

type Place = Pick<FileSink, "directory" | "staging">;

/** `below` is relative to the staging directory. */
export function makeStaging(place: Place, below = ""): void {
  try {
    makeDirectory(join(place.staging, below));
    markStaging(place.staging);
  } catch (error) {
    throw cannotWrite(place, error);
  }
}

/** Rewrites the kernel's failure to write a file. Other errors stay: they may be about files that are read. */
export function inWritersWords(error: unknown, place: Place): unknown {
  return error instanceof KernelError && error.message.includes(place.staging) ? cannotWrite(place, error) : error;
}

export function cannotWrite({ directory, staging }: Place, error: unknown): WriteError {
  const cause = messageOf(error);
  const room = /no space left/i.test(cause) ? ` (${roomIn(staging)} left on the disk)` : "";
  return new WriteError(
    `${directory} cannot be written: ${cause}${room}. Files are first written to ${staging}; the directory itself was not changed.`,
    directory,
  );
}

function roomIn(directory: string): string {
  const { bavail, bsize } = statfsSync(directory);
  return formatSize(bavail * bsize);
}
