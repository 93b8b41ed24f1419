/** A worker's log: its stdout and stderr in one file, and its last lines. */
import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { makeDirectory } from "../files/index.ts";
import type { WorkerId } from "../protocol/index.ts";

/** V8's last words are a stack trace of some 4 KB, after the line that matters. */
const TAIL_BYTES = 16 * 1024;
const TAIL_LINES = 20;
/** A frame of V8's own stack trace: many of them, below the line that matters, and nobody can read them. */
const NATIVE_FRAME = /^ *\d+: 0x[0-9a-f]+ /;

export function workerLog(stateDirectory: string, worker: WorkerId): string {
  return join(stateDirectory, `worker-${worker}.log`);
}

/**
 * For appending. Somebody may have cleared old logs away meanwhile. Null: it cannot be had (a full disk, say); a worker is started all
 * the same.
 */
export function openWorkerLog(stateDirectory: string, worker: WorkerId): number | null {
  try {
    makeDirectory(stateDirectory, 0o700);
    return openSync(workerLog(stateDirectory, worker), "a", 0o600);
  } catch (error) {
    process.stderr.write(`worker ${worker} has no log: ${(error as Error).message}\n`);
    return null;
  }
}

export function appendToLog(stateDirectory: string, worker: WorkerId, text: string): void {
  const log = openWorkerLog(stateDirectory, worker);
  if (log === null) return;
  try {
    writeSync(log, text);
  } catch (error) {
    process.stderr.write(`worker ${worker}: ${text}${(error as Error).message}\n`);
  } finally {
    closeSync(log);
  }
}

export interface LastWords {
  /** As much as tells what it died of. */
  readonly words: string;
  /** As much as a person reads. */
  readonly tail: string;
}

/** A log that cannot be read, removed meanwhile, say, says nothing; that is no reason to fail here. */
export function lastWords(path: string): LastWords {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return { words: "", tail: "" };
  }
  try {
    const { size } = fstatSync(fd);
    const length = Math.min(size, TAIL_BYTES);
    const bytes = Buffer.alloc(length);
    readSync(fd, bytes, 0, length, size - length);
    const words = bytes.toString("utf8");
    return { words, tail: tailOf(words) };
  } finally {
    closeSync(fd);
  }
}

function tailOf(words: string): string {
  const lines = words.trimEnd().split("\n");
  return lines
    .filter((line) => !NATIVE_FRAME.test(line))
    .slice(-TAIL_LINES)
    .join("\n");
}
