/**
 * Appends to a file and leaves none of it in the page cache: while one window is being copied, the one before is
 * written to the disk and dropped. The page cache is memory that the blocks were to make room for.
 */
import type { FileHandle } from "node:fs/promises";
import type { Bytes } from "../../protocol/index.ts";
import { writeOut } from "./page-cache.ts";
import { writeFully } from "./whole.ts";

const WINDOW: Bytes = 8 << 20;

export class WriteBehind {
  readonly #file: FileHandle;
  #end: Bytes = 0;
  /** Everything before it is on its way to the disk. */
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

  /** Nothing uses the file any more, whether it went well or not. */
  async settled(): Promise<void> {
    await this.#sending.catch(() => {});
  }

  async #send(): Promise<void> {
    await this.#sending;
    this.#sending = writeOut(this.#file, this.#sent, this.#end - this.#sent);
    // A failure is met at the next window or at the end; until then nobody listens to it.
    this.#sending.catch(() => {});
    this.#sent = this.#end;
  }
}
