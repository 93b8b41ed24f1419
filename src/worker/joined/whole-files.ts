/** Small files read whole, one after another, into the same memory. */
import { closeSync, openSync, readSync } from "node:fs";

/**
 * The least room for the next read. Most files are smaller: the first call reads them, and a second call finds the end.
 */
const READ_AT_ONCE = 64 * 1024;

export class WholeFiles {
  #buffer = Buffer.allocUnsafeSlow(2 * READ_AT_ONCE);

  /** The file's content, valid until the next call; null when the file cannot be read. */
  read(path: string): Uint8Array | null {
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
