/**
 * Limits how many transfers run at once, and the memory they use: each has two slices, one being filled while the other
 * is emptied. Further transfers wait in line. So memory stays bounded however many transfers are asked for. The slices
 * are made at the first use.
 */
import type { Bytes } from "../../protocol/index.ts";

/** Larger slices were not faster. The checksum of one blocks the event loop for 0.25 ms. */
export const SLICE: Bytes = 1 << 20;

export type Slices = readonly [Uint8Array, Uint8Array];

export class Lane {
  readonly #width: number;
  readonly #idle: Slices[] = [];
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(width: number) {
    this.#width = width;
  }

  async run<Result>(work: (slices: Slices) => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#width) await new Promise<void>((go) => this.#waiting.push(go));
    else this.#running += 1;
    const slices: Slices = this.#idle.pop() ?? [new Uint8Array(SLICE), new Uint8Array(SLICE)];
    try {
      return await work(slices);
    } finally {
      this.#idle.push(slices);
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

/** Fills one slice while the other is emptied, in order. */
export async function pump<Piece>(
  slices: Slices,
  pieces: Iterable<Piece>,
  fill: (piece: Piece, slice: Uint8Array) => Promise<Bytes>,
  empty: (piece: Piece, slice: Uint8Array, filled: Bytes) => Promise<void>,
): Promise<void> {
  let [slice, other] = slices;
  let emptying: Promise<void> = Promise.resolve();
  try {
    for (const piece of pieces) {
      const filled = await fill(piece, slice);
      await emptying;
      emptying = empty(piece, slice, filled);
      // A failure is thrown in the next round; this handler keeps it from being reported as unhandled until then.
      emptying.catch(() => {});
      [slice, other] = [other, slice];
    }
  } finally {
    // Another transfer gets the slices after this, so every use of them must have ended.
    await emptying;
  }
}
