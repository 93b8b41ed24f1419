/**
 * A spill file that its readers share. The first reader opens it; the last one drops its page cache and closes it. What
 * the system reads ahead of one block is the next block for another reader, so restoring many blocks of a file reads
 * the file in sequence.
 */
import { type FileHandle, open } from "node:fs/promises";
import { drop } from "./page-cache.ts";

export class SharedFile {
  #readers = 0;
  #handle: Promise<FileHandle> | null = null;

  constructor(readonly path: string) {}

  get isInUse(): boolean {
    return this.#readers > 0;
  }

  /** Adds a reader; a reader that still waits in line counts, too. Each reader leaves once. */
  enter(): void {
    this.#readers += 1;
  }

  opened(): Promise<FileHandle> {
    this.#handle ??= open(this.path, "r");
    return this.#handle;
  }

  async leave(): Promise<void> {
    this.#readers -= 1;
    if (this.#readers > 0 || this.#handle === null) return;
    const handle = await this.#handle.catch(() => null);
    // A new reader may have entered while the file was opened for a reader that has left.
    if (this.#readers > 0 || this.#handle === null) return;
    this.#handle = null;
    if (handle === null) return;
    await drop(handle, 0, 0);
    await handle.close();
  }
}
