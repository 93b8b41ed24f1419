/**
 * The log of a process: stdout and stderr in one bounded file. The process writes through a descriptor, so the file
 * must stay the same: when it is too long, its newest half is rewritten at its beginning.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { makeDirectory } from "../files/index.ts";
import type { Bytes, WorkerId } from "../protocol/index.ts";
import { formatSize } from "../units/index.ts";

/** Limit for one process. It is checked a few times a second, so a log may be longer in between. */
const LIMIT: Bytes = 10 * 2 ** 20;
/** Number of kept logs of ended workers; the logs of a repeated crash are all alike. */
const ENDED_LOGS = 50;
const LINE_END = 10;

/** V8's last message is a stack trace of about 4 KB, after the line that matters. */
const TAIL_BYTES = 16 * 1024;
const TAIL_LINES = 20;
/** A frame of V8's native stack trace: many lines that do not help users. */
const NATIVE_FRAME = /^ *\d+: 0x[0-9a-f]+ /;

export const SUPERVISOR_LOG = "supervisor.log";
const DASHBOARD_LOG = "dashboard.log";

export function workerLog(stateDirectory: string, worker: WorkerId): string {
  return join(stateDirectory, `worker-${worker}.log`);
}

export class ProcessLog {
  #dropped: Bytes = 0;

  private constructor(
    /** The owner of the log, for messages: "worker 3". */
    private readonly owner: string,
    /** Opened for appending: the worker's output always goes to the end of the file. */
    readonly fd: number,
    private readonly limit: Bytes,
  ) {}

  /** Null: the log cannot be opened (a full disk, or a cleared directory); the worker is started without it. */
  static open(stateDirectory: string, worker: WorkerId, limit: Bytes = LIMIT): ProcessLog | null {
    return ProcessLog.#openAt(stateDirectory, workerLog(stateDirectory, worker), `worker ${worker}`, limit);
  }

  /** The supervisor's own log, which is its stderr. */
  static ofSupervisor(stateDirectory: string, limit: Bytes = LIMIT): ProcessLog | null {
    return ProcessLog.#openAt(stateDirectory, join(stateDirectory, SUPERVISOR_LOG), "the supervisor", limit);
  }

  static ofDashboard(stateDirectory: string, limit: Bytes = LIMIT): ProcessLog | null {
    return ProcessLog.#openAt(stateDirectory, join(stateDirectory, DASHBOARD_LOG), "the dashboard", limit);
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
   * Drops the oldest lines of a log that is too long. Also for a removed file: it takes disk space while it is open.
   */
  bound(): void {
    const { size } = fstatSync(this.fd);
    if (size <= this.limit) return;
    try {
      const newest = this.#read(size - Math.floor(this.limit / 2), size);
      const kept = newest.subarray(newest.indexOf(LINE_END) + 1);
      // Output since the first read; output between this line and the next is lost.
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

/** Keeps the newest logs of ended workers. */
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
  /** Long enough to find the cause of the death. */
  readonly words: string;
  /** Long enough for a person. */
  readonly tail: string;
}

/** A log that cannot be read (removed, for example) gives empty texts. */
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
