/**
 * Kinds of a worker's memory, from what was measured and what is known of it (K9). Only arithmetic; in every reading
 * managed + unmanaged + recent = process.
 */
import type { Bytes, MemoryKinds, Milliseconds } from "../protocol/index.ts";

/** What a worker has at one moment. */
export interface MemoryUse {
  /** RSS − SHR of the process and its children. */
  readonly private: Bytes;
  /** Blocks in memory that it is answerable for: in shared memory, so beside what is private. */
  readonly blocks: Bytes;
  /** Of what is private: its kernel's buffers, and what the user's container holds. */
  readonly kernel: Bytes;
  readonly container: Bytes;
  /** Its blocks on disk, after compression. */
  readonly spilled: Bytes;
}

export function processOf(use: MemoryUse): Bytes {
  return use.private + use.blocks;
}

/** Never more than the process has: buffers that were just freed may still be in the kernel's own figures. */
export function managedOf(use: MemoryUse): Bytes {
  return Math.min(processOf(use), use.blocks + use.kernel + use.container);
}

/** `unmanaged` remembers the readings before this one, and from now on this one. */
export function kindsOf(use: MemoryUse, unmanaged: LeastOverTime, now: Milliseconds): MemoryKinds {
  const process = processOf(use);
  const managed = managedOf(use);
  const old = unmanaged.note(process - managed, now);
  return { process, managed, unmanaged: old, recent: process - managed - old, spilled: use.spilled };
}

/**
 * The least that a figure has been over the last while, and 0 as long as it has not been watched for that long: what
 * was not there yet is recent. Of the readings only those are kept that can still become the least (each is lower than
 * all after it), so a reading is put in once and taken out once.
 */
export class LeastOverTime {
  readonly #readings: { readonly at: Milliseconds; readonly value: Bytes }[] = [];
  #since: Milliseconds | null = null;

  constructor(private readonly span: Milliseconds) {}

  note(value: Bytes, now: Milliseconds): Bytes {
    this.#since ??= now;
    while ((this.#readings.at(-1)?.value ?? -1) >= value) this.#readings.pop();
    this.#readings.push({ at: now, value });
    while ((this.#readings[0]?.at ?? now) < now - this.span) this.#readings.shift();
    return now - this.#since < this.span ? 0 : (this.#readings[0]?.value ?? value);
  }
}
