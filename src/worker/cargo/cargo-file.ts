/**
 * The part of a task's cargo that is on disk: bytes appended in order, read back from anywhere. The file has no name,
 * so it vanishes with the task, or with its process.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readSync, statfsSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { SpillDamagedError, SpillError } from "../../errors/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import { formatSize } from "../../units/index.ts";

/** What a full disk, or a disk that may not be written, says. */
const REFUSALS = new Set(["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM", "EFBIG"]);

let lastNumber = 0;

export class CargoFile {
  readonly #path: string;
  #fd: number | null = null;
  length: Bytes = 0;

  constructor(
    private readonly directory: string,
    private readonly operator: string,
  ) {
    lastNumber += 1;
    this.#path = join(directory, `cargo-${process.pid}-${lastNumber}`);
  }

  /** Where the bytes begin in the file. */
  append(bytes: Uint8Array): number {
    const at = this.length;
    try {
      const fd = this.#open();
      for (let done = 0; done < bytes.byteLength; ) {
        done += writeSync(fd, bytes, done, bytes.byteLength - done, at + done);
      }
    } catch (error) {
      throw this.#refused(error, bytes.byteLength);
    }
    this.length += bytes.byteLength;
    return at;
  }

  /** Fills `into` from a position. */
  read(into: Uint8Array, at: number): void {
    const fd = this.#open();
    for (let done = 0; done < into.byteLength; ) {
      const read = readSync(fd, into, done, into.byteLength - done, at + done);
      if (read === 0) {
        throw new SpillDamagedError(
          `${this.operator}: rows on disk ended at byte ${fstatSync(fd).size} of ${this.length}.`,
          this.#path,
          "truncated",
          { offset: at, length: into.byteLength },
        );
      }
      done += read;
    }
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
    this.length = 0;
  }

  #open(): number {
    if (this.#fd === null) {
      mkdirSync(this.directory, { recursive: true, mode: 0o700 });
      this.#fd = openSync(this.#path, "wx+", 0o600);
      unlinkSync(this.#path);
    }
    return this.#fd;
  }

  #refused(error: unknown, bytes: Bytes): unknown {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined || !REFUSALS.has(code)) return error;
    const { directory: path, operator } = this;
    const free = freeBytes(path);
    const room = free === null ? "" : `, where ${formatSize(free)} are free`;
    return new SpillError(
      `${operator}: rows that do not fit into memory must go to disk, but ${path}${room}, does not take ${formatSize(bytes)} more (${message}). Free space there, use another localDirectory, or give the session more memory.`,
      [{ path, reason: message, free }],
      null,
      this.length,
    );
  }
}

function freeBytes(path: string): Bytes | null {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return null;
  }
}
