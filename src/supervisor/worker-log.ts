/**
 * The log of a process: its stdout and stderr in one file, bounded, and its last lines. The process writes to the file
 * itself, through a descriptor that it was given, so the file stays the same one: where it has grown too long, its
 * newest half is written anew at its beginning.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { makeDirectory } from "../files/index.ts";
import type { Bytes, WorkerId } from "../protocol/index.ts";
import { formatSize } from "../units/index.ts";

/** Of one process. It is looked at a few times a second, and may be longer by what is printed in between. */
const LIMIT: Bytes = 10 * 2 ** 20;
/** Of workers that have ended; those of a crash that repeats itself all say the same. */
const ENDED_LOGS = 50;
const LINE_END = 10;

/** V8's last words are a stack trace of some 4 KB, after the line that matters. */
const TAIL_BYTES = 16 * 1024;
const TAIL_LINES = 20;
/** A frame of V8's own stack trace: many of them, below the line that matters, and nobody can read them. */
const NATIVE_FRAME = /^ *\d+: 0x[0-9a-f]+ /;

export const SUPERVISOR_LOG = "supervisor.log";

export function workerLog(stateDirectory: string, worker: WorkerId): string {
  return join(stateDirectory, `worker-${worker}.log`);
}

export class ProcessLog {
  #dropped: Bytes = 0;

  private constructor(
    /** Whose it is, for messages: "worker 3". */
    private readonly owner: string,
    /** For appending: whatever is done to the file, what the worker writes comes at its end. */
    readonly fd: number,
    private readonly limit: Bytes,
  ) {}

  /**
   * Somebody may have cleared old logs away meanwhile. Null: it cannot be had (a full disk, say); a worker is started
   * all the same.
   */
  static open(stateDirectory: string, worker: WorkerId, limit: Bytes = LIMIT): ProcessLog | null {
    return ProcessLog.#openAt(stateDirectory, workerLog(stateDirectory, worker), `worker ${worker}`, limit);
  }

  /** The supervisor's own, which it was given as its stderr. */
  static ofSupervisor(stateDirectory: string, limit: Bytes = LIMIT): ProcessLog | null {
    return ProcessLog.#openAt(stateDirectory, join(stateDirectory, SUPERVISOR_LOG), "the supervisor", limit);
  }

  static #openAt(directory: string, path: string, owner: string, limit: Bytes): ProcessLog | null {
    try {
      makeDirectory(directory, 0o700);
      return new ProcessLog(owner, openSync(path, "a+", 0o600), limit);
    } catch (error) {
      process.stderr.write(`${owner} cannot write a log: ${(error as Error).message}\n`);
      return null;
    }
  }

  append(text: string): void {
    try {
      writeSync(this.fd, text);
    } catch (error) {
      process.stderr.write(`${this.owner}: ${text}${(error as Error).message}\n`);
    }
  }

  /**
   * Drops the oldest lines where it is too long. Also of a file that was removed: the disk has it as long as it is
   * open.
   */
  bound(): void {
    const { size } = fstatSync(this.fd);
    if (size <= this.limit) return;
    try {
      const newest = this.#read(size - Math.floor(this.limit / 2), size);
      const kept = newest.subarray(newest.indexOf(LINE_END) + 1);
      // What has come in the meantime; what comes between this and the next line is lost.
      const last = this.#read(size, fstatSync(this.fd).size);
      ftruncateSync(this.fd, 0);
      this.#dropped += size - kept.length;
      const told = `[spillway] ${formatSize(this.#dropped)} of older lines were dropped: a log has at most ${formatSize(this.limit)}.\n`;
      for (const piece of [Buffer.from(told), kept, last]) writeSync(this.fd, piece);
    } catch (error) {
      process.stderr.write(`the log of ${this.owner} cannot be cut: ${(error as Error).message}\n`);
    }
  }

  close(): void {
    this.bound();
    closeSync(this.fd);
  }

  #read(from: Bytes, to: Bytes): Buffer {
    const bytes = Buffer.alloc(Math.max(0, to - from));
    return bytes.subarray(0, readSync(this.fd, bytes, 0, bytes.length, from));
  }
}

/** Which logs of ended workers stay: the newest. */
export class EndedLogs {
  readonly #paths: string[] = [];

  constructor(private readonly most = ENDED_LOGS) {}

  add(path: string): void {
    this.#paths.push(path);
    const old = this.#paths.splice(0, Math.max(0, this.#paths.length - this.most));
    try {
      for (const one of old) rmSync(one, { force: true });
    } catch (error) {
      process.stderr.write(`the log of a worker that has ended cannot be removed: ${(error as Error).message}\n`);
    }
  }
}

interface LastWords {
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
