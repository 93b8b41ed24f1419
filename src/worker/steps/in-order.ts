/**
 * Many asynchronous calls under way at once, their results taken in the order of the calls, so that a replay of the
 * task gives the same blocks. A slow call holds back results but not new calls, up to a bound.
 */

interface Slot<T> {
  result: T | undefined;
  error: { readonly thrown: unknown } | null;
  settled: boolean;
}

/** Finished results that may wait behind a slow one, as a multiple of the calls under way. */
const WAITING_PER_RUNNING = 4;

export class InOrder<T> {
  readonly #slots: Slot<T>[] = [];
  #running = 0;
  #isAbandoned = false;
  #wake: (() => void) | null = null;

  constructor(
    private readonly maxInFlight: number,
    /** Takes a result, or what was thrown; called strictly in order. */
    private readonly take: (result: T | undefined, error: { readonly thrown: unknown } | null) => void | Promise<void>,
  ) {}

  /** Resolves when there is room for one more call. */
  async room(): Promise<void> {
    // What is looked at and the waiting for a change stand in one tick, so that no change is missed.
    while (!this.#isAbandoned) {
      if (this.#slots[0]?.settled === true) await this.#takeSettled();
      else if (this.#running < this.maxInFlight && this.#slots.length < this.maxInFlight * WAITING_PER_RUNNING) return;
      else await this.#nextSettled();
    }
  }

  add(call: PromiseLike<T>): void {
    const slot: Slot<T> = { result: undefined, error: null, settled: false };
    this.#slots.push(slot);
    this.#running++;
    const settle = () => {
      slot.settled = true;
      this.#running--;
      this.#wake?.();
    };
    call.then(
      (result) => {
        slot.result = result;
        settle();
      },
      (thrown: unknown) => {
        slot.error = { thrown };
        settle();
      },
    );
  }

  /** No more results are wanted: nobody waits for the calls under way, nor hears of what becomes of them. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#slots.length = 0;
  }

  async drain(): Promise<void> {
    while (this.#slots.length > 0) {
      if (this.#slots[0]?.settled === true) await this.#takeSettled();
      else await this.#nextSettled();
    }
  }

  async #takeSettled(): Promise<void> {
    while (this.#slots[0]?.settled === true) {
      const slot = this.#slots.shift();
      if (slot === undefined) return;
      const wait = this.take(slot.result, slot.error);
      if (wait !== undefined) await wait;
    }
  }

  #nextSettled(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = null;
        resolve();
      };
    });
  }
}
