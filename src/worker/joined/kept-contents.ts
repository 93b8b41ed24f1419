/**
 * The contents of small files that a planner's question has read, for the tasks of the same call: the files would
 * otherwise be read twice. A task takes a content only if it was read after the task's call began, so it is as new as
 * the call. Contents that no task has taken are dropped after a moment.
 */
import type { Bytes, Milliseconds } from "../../protocol/index.ts";
import { systemClock } from "../../units/index.ts";

const MOST_HELD: Bytes = 16 * 2 ** 20;
/** What a content takes beside its bytes, at most. */
const BESIDE: Bytes = 512;
/** Planning ends long before that, or its tasks read the files again. */
const HELD_FOR: Milliseconds = 3000;

interface Content {
  readonly bytes: Uint8Array;
  readonly readAt: Milliseconds;
}

export class KeptContents {
  readonly #contents = new Map<string, Content>();
  #held: Bytes = 0;
  #timer: NodeJS.Timeout | null = null;

  get held(): Bytes {
    return this.#held;
  }

  /** `readAt`: when it was read at the earliest, by the system's clock. */
  keep(path: string, bytes: Uint8Array, readAt: Milliseconds): void {
    this.#forget(path);
    const size = sizeOf(path, bytes);
    if (this.#held + size > MOST_HELD) return;
    this.#contents.set(path, { bytes: Uint8Array.from(bytes), readAt });
    this.#held += size;
    this.#timer ??= setTimeout(() => this.#dropOld(), HELD_FOR).unref();
  }

  /** The content, which is no longer kept; null if there is none that was read at `since` or later. */
  take(path: string, since: Milliseconds): Uint8Array | null {
    const content = this.#contents.get(path);
    if (content === undefined) return null;
    this.#forget(path);
    return content.readAt >= since ? content.bytes : null;
  }

  clear(): void {
    this.#contents.clear();
    this.#held = 0;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #forget(path: string): void {
    const content = this.#contents.get(path);
    if (content === undefined) return;
    this.#contents.delete(path);
    this.#held -= sizeOf(path, content.bytes);
  }

  #dropOld(): void {
    const latest = systemClock() - HELD_FOR;
    for (const [path, { readAt }] of this.#contents) if (readAt <= latest) this.#forget(path);
    this.#timer = this.#contents.size === 0 ? null : setTimeout(() => this.#dropOld(), HELD_FOR).unref();
  }
}

function sizeOf(path: string, bytes: Uint8Array): Bytes {
  return 2 * path.length + bytes.length + BESIDE;
}

/** A worker process has one planner and runs one task at a time. */
export const keptContents = new KeptContents();
