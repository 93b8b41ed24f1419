/** An arena for a single test, and bytes for the blocks in it. */
import { closeSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import type { ArenaRange, Bytes } from "../../src/protocol/index.ts";
import { PAGE, wholePages } from "../../src/store/index.ts";
import type { SpillBlock } from "../../src/store/spill/index.ts";

export interface TestBlock extends SpillBlock {
  readonly bytes: Uint8Array;
}

/** Hands out ranges one after the other; nothing is freed. */
export class TestArena {
  readonly path: string;
  readonly #fd: number;
  #end: Bytes = PAGE;

  constructor(path: string) {
    this.path = path;
    this.#fd = openSync(path, "w+");
    ftruncateSync(this.#fd, 2 ** 30);
  }

  put(bytes: Uint8Array): TestBlock {
    const range = this.reserve(bytes.length);
    writeSync(this.#fd, bytes, 0, bytes.length, range.offset);
    return { range, checksum: crc32(bytes), bytes };
  }

  reserve(length: Bytes): ArenaRange {
    const offset = this.#end;
    this.#end += wholePages(length);
    return { offset, length };
  }

  get({ offset, length }: ArenaRange): Uint8Array {
    const bytes = new Uint8Array(length);
    readSync(this.#fd, bytes, 0, length, offset);
    return bytes;
  }

  close(): void {
    closeSync(this.#fd);
    rmSync(this.path);
  }
}

/** Bytes that no codec makes smaller; the same for the same seed. */
export function noise(length: Bytes, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed * 2654435761;
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state ^ (state >>> 15), 2246822507) + 0x9e3779b9) | 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

/** Bytes that every codec makes smaller. */
export function text(length: Bytes, seed = 1): Uint8Array {
  const words = "carefully final deposits sleep furiously among the regular quick packages".split(" ");
  let line = "";
  for (let row = seed; line.length < length; row++) line += `${words[(row * 7) % words.length]} ${row} `;
  return Buffer.from(line).subarray(0, length);
}
