/** The log files of a session: listing them, their last lines, and what was added since. */
import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { listProfiles } from "../profile/index.ts";
import { type Bytes, PROFILES } from "../protocol/index.ts";
import { SUPERVISOR_LOG } from "../supervisor/index.ts";

export interface LogFile {
  readonly name: string;
  readonly path: string;
  /** Null for the supervisor's log. */
  readonly worker: number | null;
  readonly bytes: Bytes;
}

const WORKER_LOG = /^worker-(\d+)\.log$/;
const TAIL: Bytes = 64 << 10;

/** The supervisor's log first, then the workers' logs by number. */
export function logsIn(directory: string): readonly LogFile[] {
  return readdirSync(directory)
    .flatMap((name): LogFile[] => {
      const number = WORKER_LOG.exec(name)?.[1];
      if (number === undefined && name !== SUPERVISOR_LOG) return [];
      const path = join(directory, name);
      const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      return [{ name, path, worker: number === undefined ? null : Number(number), bytes }];
    })
    .sort((a, b) => (a.worker ?? -1) - (b.worker ?? -1));
}

/** The last lines of a worker's log; null when the log is missing or empty. */
export function logTail(directory: string, worker: number, lines: number): string[] | null {
  const log = logsIn(directory).find((one) => one.worker === worker);
  if (log === undefined || log.bytes === 0) return null;
  const tail = bytesFrom(log.path, Math.max(0, log.bytes - TAIL)).toString("utf8");
  return tail.trimEnd().split("\n").slice(-lines);
}

/** The worker's newest heap profile; null without one. */
export function profileOf(directory: string, worker: number): string | null {
  const found = listProfiles(directory).find((profile) => profile.worker === worker);
  return found === undefined ? null : join(directory, PROFILES, found.name);
}

/** The content of the file from this byte on. */
export function bytesFrom(path: string, from: Bytes): Buffer {
  const fd = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(Math.max(0, fstatSync(fd).size - from));
    return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, from));
  } finally {
    closeSync(fd);
  }
}
