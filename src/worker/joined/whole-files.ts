/** Small files read whole, one after another, into the same memory. */
import { closeSync, openSync, readSync } from "node:fs";
import type { Milliseconds } from "../../protocol/index.ts";
import { systemClock } from "../../units/index.ts";
import { keptContents } from "./kept-contents.ts";

/**
 * For a question: its contents are kept for the tasks that follow. For a task: takes contents that were kept since its
 * call began. Null: reads all files itself.
 */
type Reading = { readonly for: "question" } | { readonly for: "task"; readonly since: Milliseconds } | null;

/**
 * The least room for the next read. Most files are smaller: the first call reads them, and a second call finds the end.
 */
const READ_AT_ONCE = 64 * 1024;

export class WholeFiles {
  #buffer = Buffer.allocUnsafeSlow(2 * READ_AT_ONCE);
  readonly #begun = systemClock();

  constructor(private readonly reading: Reading) {}

  /** The file's content, valid until the next call; null when the file cannot be read. */
  read(path: string): Uint8Array | null {
    const kept = this.reading?.for === "task" ? keptContents.take(path, this.reading.since) : null;
    if (kept !== null) return kept;
    const bytes = this.#readNow(path);
    if (bytes !== null && this.reading?.for === "question") keptContents.keep(path, bytes, this.#begun);
    return bytes;
  }

  #readNow(path: string): Uint8Array | null {
    try {
      const fd = openSync(path, "r");
      try {
        return this.#readAll(fd);
      } finally {
        closeSync(fd);
      }
    } catch {
      // The code that reads the file by its name reports the error.
      return null;
    }
  }

  #readAll(fd: number): Uint8Array {
    let length = 0;
    for (;;) {
      if (this.#buffer.length - length < READ_AT_ONCE) {
        const larger = Buffer.allocUnsafeSlow(2 * this.#buffer.length);
        this.#buffer.copy(larger, 0, 0, length);
        this.#buffer = larger;
      }
      const read = readSync(fd, this.#buffer, length, this.#buffer.length - length, null);
      if (read === 0) return this.#buffer.subarray(0, length);
      length += read;
    }
  }
}
