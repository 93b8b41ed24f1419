/**
 * Appends to a file and keeps it out of the page cache: while one window is copied, the previous window is written to
 * the disk and dropped. Blocks are spilled to free memory, and the page cache would use that memory.
 */
import type { FileHandle } from "node:fs/promises";
import type { Bytes } from "../../protocol/index.ts";
import { writeOut } from "./page-cache.ts";
import { writeFully } from "./whole.ts";

const WINDOW: Bytes = 8 << 20;

export class WriteBehind {
  readonly #file: FileHandle;
  #end: Bytes = 0;
  /** Everything before this offset is on its way to the disk. */
  #sent: Bytes = 0;
  #sending: Promise<void> = Promise.resolve();

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async append(bytes: Uint8Array): Promise<void> {
    await writeFully(this.#file, bytes, this.#end);
    this.#end += bytes.length;
    if (this.#end - this.#sent >= WINDOW) await this.#send();
  }

  async finish(): Promise<void> {
    if (this.#end > this.#sent) await this.#send();
    await this.#sending;
  }

  /** Resolves when the file is no longer in use, after success and failure alike. */
  async settled(): Promise<void> {
    await this.#sending.catch(() => {});
  }

  async #send(): Promise<void> {
    await this.#sending;
    this.#sending = writeOut(this.#file, this.#sent, this.#end - this.#sent);
    // A failure is thrown at the next window or at the end; this handler keeps it from being reported as unhandled
    // until then.
    this.#sending.catch(() => {});
    this.#sent = this.#end;
  }
}
