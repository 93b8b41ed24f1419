/**
 * A spill file as its readers share it: opened by the first, its page cache dropped and itself closed by the last. What
 * the system reads ahead of one block is the next block to another, so restoring many of a file reads it in sequence.
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

  /** Those who wait in line are readers, too. Each leaves once. */
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
    // Somebody may have come while the file was being opened for one who is gone.
    if (this.#readers > 0 || this.#handle === null) return;
    this.#handle = null;
    if (handle === null) return;
    await drop(handle, 0, 0);
    await handle.close();
  }
}
