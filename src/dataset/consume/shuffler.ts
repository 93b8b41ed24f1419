/**
 * Shuffles rows within a buffer, as training needs it: each row that leaves is drawn at random from the rows in the
 * buffer. Blocks come in order, so rows that are further apart than the buffer is long never meet.
 */
import { BlockBuilder, type RecordBatch } from "../../arrow/index.ts";

export interface LocalShuffle {
  /** The least number of rows in the buffer while more are to come. */
  readonly bufferSize: number;
  readonly seed: number;
}

/** Rows taken in at a time. */
const INTAKE = 8192;

export class Shuffler {
  readonly #random: () => number;
  /** Two builders that alternate: the rows of one are read while the other is filled. */
  #held = new BlockBuilder();
  #spare = new BlockBuilder();
  readonly #out = new BlockBuilder();
  /** Rows of the present intake. */
  #taken = 0;

  constructor(private readonly options: LocalShuffle) {
    this.#random = seeded(options.seed);
  }

  *push(batch: RecordBatch): Iterable<RecordBatch> {
    for (let at = 0; at < batch.length; ) {
      const end = Math.min(batch.length, at + INTAKE - this.#taken);
      this.#held.append(batch, at, end);
      this.#taken = (this.#taken + end - at) % INTAKE;
      at = end;
      // Rows leave only after a full intake, wherever blocks end: so blocks of other lengths give the same order.
      if (this.#taken > 0) continue;
      const over = this.#held.rows - this.options.bufferSize;
      // The rows that stay are copied each time some leave. So they leave in large numbers, and the buffer may hold
      // half as much again.
      if (over >= Math.max(INTAKE, this.options.bufferSize / 2)) yield* this.#leave(over);
    }
  }

  *rest(): Iterable<RecordBatch> {
    if (this.#held.rows > 0) yield* this.#leave(this.#held.rows);
  }

  *#leave(count: number): Iterable<RecordBatch> {
    const pool = this.#held.finish();
    if (pool === null) return;
    const order = new Uint32Array(pool.length);
    for (let i = 0; i < order.length; i++) order[i] = i;
    // Fisher and Yates, only as far as rows leave. The other rows keep their places, and so their order of arrival.
    for (let i = 0; i < count; i++) {
      const j = i + Math.floor(this.#random() * (order.length - i));
      const taken = order[j] ?? 0;
      order[j] = order[i] ?? 0;
      order[i] = taken;
      this.#out.append(pool, taken, taken + 1);
    }
    this.#keep(pool, order.subarray(count));
    [this.#held, this.#spare] = [this.#spare, this.#held];
    const mixed = this.#out.finish();
    if (mixed !== null) yield mixed;
  }

  /** Rows that stayed next to each other are copied together. */
  #keep(pool: RecordBatch, order: Uint32Array): void {
    for (let i = 0; i < order.length; ) {
      const start = order[i] ?? 0;
      let end = start + 1;
      for (i++; order[i] === end; i++) end++;
      this.#spare.append(pool, start, end);
    }
  }
}

/** A small seeded generator (mulberry32): the same seed gives the same order. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
