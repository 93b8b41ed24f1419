/**
 * The arena as a file. The supervisor does not map it: every page it passes would count as its own memory, and a full
 * tmpfs would be SIGBUS for a mapping, where it is an error for a write.
 */
import { type FileHandle, open } from "node:fs/promises";
import { StoreError } from "../../errors/index.ts";
import type { Bytes } from "../../protocol/index.ts";
import { readFully, writeFully } from "./whole.ts";

export class ArenaFile {
  readonly #path: string;
  #handle: Promise<FileHandle> | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  async read(into: Uint8Array, offset: Bytes): Promise<void> {
    const read = await this.#attempt("read", async (handle) => readFully(handle, into, offset));
    if (read < into.length) {
      throw new StoreError(`The arena ${this.#path} ends at ${offset + read}, inside of a block.`);
    }
  }

  async write(bytes: Uint8Array, offset: Bytes): Promise<void> {
    await this.#attempt("written", async (handle) => writeFully(handle, bytes, offset));
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    if (handle !== null) await handle.then((opened) => opened.close()).catch(() => {});
  }

  #opened(): Promise<FileHandle> {
    this.#handle ??= open(this.#path, "r+").catch((error) => {
      this.#handle = null;
      throw error;
    });
    return this.#handle;
  }

  async #attempt<Result>(what: string, work: (handle: FileHandle) => Promise<Result>): Promise<Result> {
    try {
      return await work(await this.#opened());
    } catch (error) {
      throw new StoreError(`The arena ${this.#path} cannot be ${what}: ${(error as Error).message}.`, { cause: error });
    }
  }
}
