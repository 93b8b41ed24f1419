/**
 * The kinds of a worker's memory, computed from what was measured and what is known about it (K9). Only arithmetic. In
 * every reading, managed + unmanaged + recent = process.
 */
import type { Bytes, MemoryKinds, Milliseconds } from "../protocol/index.ts";

/** A worker's memory at one moment. */
export interface MemoryUse {
  /** RSS − SHR of the process and its children. */
  readonly private: Bytes;
  /** Blocks in memory that the worker is answerable for. They are shared memory, so they come on top of `private`. */
  readonly blocks: Bytes;
  /** Parts of `private`: buffers of the worker's kernel, and its worker data. */
  readonly kernel: Bytes;
  readonly workerData: Bytes;
  /** Blocks of the worker on disk, after compression. */
  readonly spilled: Bytes;
}

export function processOf(use: MemoryUse): Bytes {
  return use.private + use.blocks;
}

/** At most what the process has: the kernel's own figures may still include buffers that were just freed. */
export function managedOf(use: MemoryUse): Bytes {
  return Math.min(processOf(use), use.blocks + use.kernel + use.workerData);
}

/** `unmanaged` holds the earlier readings; this call adds the present one. */
export function kindsOf(use: MemoryUse, unmanaged: LeastOverTime, now: Milliseconds): MemoryKinds {
  const process = processOf(use);
  const managed = managedOf(use);
  const old = unmanaged.note(process - managed, now);
  return { process, managed, unmanaged: old, recent: process - managed - old, spilled: use.spilled };
}

/**
 * The lowest value of a figure over the last while; 0 until it has been watched for that long, because memory that was
 * not there before counts as recent. Only readings that can still become the lowest are kept (each is lower than all
 * later ones), so every reading is added once and removed once.
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
