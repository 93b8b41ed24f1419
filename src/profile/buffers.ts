/**
 * Samples buffers by bytes where they are made, because V8's sampling covers only its heap. Every large buffer is
 * counted exactly. Small buffers are chosen by a Poisson process over their bytes, and a chosen buffer stands for as
 * many bytes as it is likely to represent. The references are weak, so that counting keeps no buffer alive.
 */
import { Stacks } from "./stacks.ts";

/**
 * Mean bytes between two samples; a buffer of this size is always counted. Doubled when too many buffers are counted.
 */
const INTERVAL = 128 * 1024;
/** New bytes that are worth a snapshot at once. */
const GROWTH = 16 * 2 ** 20;
/** Each counted buffer costs some microseconds in every snapshot. */
const MOST_COUNTED = 20_000;

export interface Counted {
  readonly id: number;
  readonly stack: number;
  /** How many bytes each byte of the buffer stands for. */
  readonly scale: number;
}

export class Buffers {
  /** Read through the inspector: nothing else can list the buffers that still live. */
  readonly counted = new WeakMap<object, Counted>();
  #last = 0;
  #interval = INTERVAL;
  #left = 0;
  /** Bytes made since the last snapshot. */
  #grown = 0;
  readonly stacks = new Stacks();
  #depth = 0;
  #isStopped = false;

  /** `grown` is called when much was made since the last snapshot and may be gone before the next one. */
  constructor(private readonly grown: (() => void) | null = null) {
    this.#draw();
  }

  get last(): number {
    return this.#last;
  }

  /** Called with each snapshot. With too many living buffers, fewer are counted from now on. */
  living(count: number): void {
    this.#grown = 0;
    if (count > MOST_COUNTED) this.#interval *= 2;
  }

  /**
   * Runs a maker. When one maker calls another, only the outer one counts. Stand-ins of a stopped profile count
   * nothing.
   */
  watch<Made>(make: () => Made, tell: (made: Made) => void): Made {
    if (this.#depth > 0 || this.#isStopped) return make();
    this.#depth += 1;
    try {
      const made = make();
      tell(made);
      return made;
    } finally {
      this.#depth -= 1;
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Counts a buffer that has its memory to itself. `maker` names the function `above`. */
  made(made: ArrayBufferLike, maker: string, above: (...args: never[]) => unknown): void {
    const bytes = made.byteLength;
    if (bytes === 0) return;
    const isLarge = bytes >= this.#interval;
    if (!isLarge) {
      this.#left -= bytes;
      if (this.#left > 0) return;
      this.#draw();
    }
    this.#last += 1;
    const scale = isLarge ? 1 : 1 / (1 - Math.exp(-bytes / this.#interval));
    this.counted.set(made, { id: this.#last, stack: this.stacks.here(maker, above), scale });
    this.#grown += bytes * scale;
    if (this.#grown > GROWTH) this.grown?.();
  }

  #draw(): void {
    this.#left = -Math.log(1 - Math.random()) * this.#interval;
  }
}
