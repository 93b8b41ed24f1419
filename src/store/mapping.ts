/**
 * The arena as the program and the workers see it: one shared mapping, and views of ranges in it. Has a door of its
 * own, because it loads the C boundary, which the supervisor does not need. Views are for this project's own code only:
 * users always get a copy (docs/architecture.md).
 */
import { closeSync, constants, fstatSync, openSync, statfsSync } from "node:fs";
import { StoreError } from "../errors/index.ts";
import { mapFile, type NativeMemory, punchHole, reserveRange } from "../native/index.ts";
import type { ArenaPlace, ArenaRange } from "../protocol/index.ts";

const TMPFS_MAGIC = 0x01021994;

export class MappedArena {
  readonly #fd: number;
  readonly #inMemory: boolean;
  readonly #memory: NativeMemory;
  #readers = 0;
  #closed = false;

  constructor(place: ArenaPlace) {
    this.#fd = openOwn(place.path);
    this.#memory = mapFile(this.#fd, place.size, true);
    this.#inMemory = statfsSync(place.path).type === TMPFS_MAGIC;
  }

  /** Sealed bytes, to read. */
  view(range: ArenaRange): Uint8Array {
    return this.#memory.view(range.offset, range.length);
  }

  /**
   * A granted range, to write. It gets memory first, because touching a full tmpfs would kill the process. In /dev/shm
   * the same call maps its pages: one page fault after another while writing would cost four times the writing. A file
   * system on disk may delay finding the space, so there the range is reserved in the file.
   */
  writable(range: ArenaRange): Uint8Array {
    if (!this.#inMemory) reserveRange(this.#fd, range.offset, range.length);
    else if (!this.#memory.populate(range.offset, range.length)) this.#reserve(range);
    return this.#memory.view(range.offset, range.length);
  }

  /** Keeps the memory mapped for a reader of views, even after `close`, until the returned function is called. */
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

  /**
   * For a system that cannot populate pages, and to learn why populating failed: pages populated before the failure are
   * then given back.
   */
  #reserve({ offset, length }: ArenaRange): void {
    try {
      reserveRange(this.#fd, offset, length);
    } catch (error) {
      punchHole(this.#fd, offset, length);
      throw error;
    }
  }

  #unmapIfUnread(): void {
    if (this.#readers === 0) this.#memory.unmap();
  }
}

/** Refuses a file that another user put in the arena's place, because that user could read all rows. */
function openOwn(path: string): number {
  const fd = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW);
  const { uid } = fstatSync(fd);
  if (process.geteuid === undefined || uid === process.geteuid()) return fd;
  closeSync(fd);
  throw new StoreError(
    `The store's file ${path} belongs to user ${uid}: somebody has put it in the place of the session's.`,
  );
}
