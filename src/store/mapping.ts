/**
 * The arena as the program and the workers see it: one shared mapping, views of ranges in it. A door of its own,
 * because it loads the C boundary, which the supervisor does without.
 * Views are for this project's own code only: what reaches a user is always a copy (docs/architecture.md).
 */
import { closeSync, openSync } from "node:fs";
import { mapFile, type NativeMemory, reserveRange } from "../native/index.ts";
import type { ArenaPlace, ArenaRange } from "../protocol/index.ts";

export class MappedArena {
  readonly #fd: number;
  readonly #memory: NativeMemory;
  #readers = 0;
  #closed = false;

  constructor(place: ArenaPlace) {
    this.#fd = openSync(place.path, "r+");
    this.#memory = mapFile(this.#fd, place.size, true);
  }

  /** Sealed bytes, to be read. */
  view(range: ArenaRange): Uint8Array {
    return this.#memory.view(range.offset, range.length);
  }

  /** A granted range, to be written. Backed by memory first: touching a full tmpfs would kill the process. */
  writable(range: ArenaRange): Uint8Array {
    reserveRange(this.#fd, range.offset, range.length);
    return this.#memory.view(range.offset, range.length);
  }

  /** Keeps the memory mapped for somebody who reads views of it, also past `close`, until what it gives is called. */
  hold(): () => void {
    let held = true;
    this.#readers += 1;
    return () => {
      if (!held) return;
      held = false;
      this.#readers -= 1;
      if (this.#closed) this.#unmapIfUnread();
    };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#fd);
    this.#unmapIfUnread();
  }

  #unmapIfUnread(): void {
    if (this.#readers === 0) this.#memory.unmap();
  }
}
