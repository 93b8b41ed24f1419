/**
 * The program's own memory, as the part of the library in it sees it. The supervisor reads it every 200 ms, in which a
 * program can take hundreds of megabytes. So while the program reads output, it looks at itself, and asks for room when
 * it has grown by a step. The supervisor says how far the program may go before it asks again.
 */
import { ownMemory } from "../memory/index.ts";
import type { Bytes, Milliseconds } from "../protocol/index.ts";

/** A look takes 4 µs. In this time a program takes 20 MB at most: touching new memory is slow. */
const BETWEEN_LOOKS: Milliseconds = 5;
/** A program that reads batches takes so much (measured in memory boxes): up to here it does not ask. */
const FIRST: Bytes = 64 * 2 ** 20;

export class ProgramGrowth {
  readonly #ask: (bytes: Bytes) => Promise<Bytes>;
  #until: Bytes = FIRST;
  #lookedAt: Milliseconds = 0;
  #asking: Promise<void> | null = null;

  /** `ask` resolves when there is room, with how much the program may hold before it asks again. */
  constructor(ask: (bytes: Bytes) => Promise<Bytes>) {
    this.#ask = ask;
  }

  /** Null: the program may go on. */
  room(): Promise<void> | null {
    if (this.#asking !== null) return this.#asking;
    const now = performance.now();
    if (now - this.#lookedAt < BETWEEN_LOOKS) return null;
    this.#lookedAt = now;
    const { private: bytes } = ownMemory();
    if (bytes <= this.#until) return null;
    this.#asking = this.#askFor(bytes);
    return this.#asking;
  }

  /** Never rejects: without a session there is nothing to wait for, and the reader learns of its end by itself. */
  async #askFor(bytes: Bytes): Promise<void> {
    try {
      this.#until = await this.#ask(bytes);
    } catch {
      this.#until = Number.POSITIVE_INFINITY;
    } finally {
      this.#asking = null;
    }
  }
}
