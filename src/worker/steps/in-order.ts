/**
 * Many asynchronous calls under way at once, with results taken in the order of the calls, so that a replay of the task
 * makes the same blocks. A slow call holds back results but not new calls: results wait behind it, up to a limit of
 * bytes.
 */
import { getHeapStatistics } from "node:v8";
import type { Bytes } from "../../protocol/index.ts";

/** A call, until its result has been taken. */
interface Slot<T> {
  outcome: { readonly result: T } | { readonly error: unknown } | null;
  /** Bytes of its result while it waits; 0 for the next result to be taken. */
  bytes: Bytes;
}

/** What is done with results. */
interface Results<T> {
  /** Called strictly in order. */
  take(result: T): void | Promise<void>;
  /** About how many bytes a result takes in memory, with everything that it keeps. */
  bytes(result: T): Bytes;
  /** Called for a result that is not wanted any more. */
  drop(result: T): void;
}

/** Promises and slots of a call, measured. */
const CALL_BYTES: Bytes = 600;
/** A second of 40,000 small answers, or of 4,000 with 16 KiB each; less if the heap is small. */
const MOST_WAITING: Bytes = 64 << 20;
const HEAP_SHARE = 8;

/** Bytes of finished results that may wait behind a slow one in this process. */
function waitingBytes(): Bytes {
  return Math.min(MOST_WAITING, Math.floor(getHeapStatistics().heap_size_limit / HEAP_SHARE));
}

export class InOrder<T> {
  /** Slots before `#first` have been taken. */
  #slots: Slot<T>[] = [];
  #first = 0;
  #running = 0;
  #waiting: Bytes = 0;
  #isAbandoned = false;
  #wake: (() => void) | null = null;

  constructor(
    private readonly maxInFlight: number,
    private readonly results: Results<T>,
    private readonly mostWaiting: Bytes = waitingBytes(),
  ) {}

  /** Resolves when there is room for one more call. */
  async room(): Promise<void> {
    // The check and the start of the wait are in one tick, so that no change is missed.
    while (!this.#isAbandoned) {
      if (this.#isNextSettled) await this.#takeSettled();
      else if (this.#running < this.maxInFlight && this.#waiting < this.mostWaiting) return;
      else await this.#nextSettled();
    }
  }

  add(call: PromiseLike<T>): void {
    const slot: Slot<T> = { outcome: null, bytes: 0 };
    this.#slots.push(slot);
    this.#running++;
    call.then(
      (result) => this.#settle(slot, { result }),
      (error: unknown) => this.#settle(slot, { error }),
    );
  }

  /** No more results are wanted. Calls under way go on, and their results are ignored. */
  abandon(): void {
    this.#isAbandoned = true;
    for (const { outcome } of this.#slots.splice(0)) if (outcome !== null) this.#drop(outcome);
    this.#first = 0;
    this.#wake?.();
  }

  async drain(): Promise<void> {
    while (this.#first < this.#slots.length) {
      if (this.#isNextSettled) await this.#takeSettled();
      else await this.#nextSettled();
    }
  }

  get #isNextSettled(): boolean {
    return (this.#slots[this.#first]?.outcome ?? null) !== null;
  }

  #settle(slot: Slot<T>, outcome: NonNullable<Slot<T>["outcome"]>): void {
    this.#running--;
    if (this.#isAbandoned) {
      this.#drop(outcome);
      return;
    }
    slot.outcome = outcome;
    // A result that is taken at once need not be measured.
    if (slot !== this.#slots[this.#first]) {
      slot.bytes = CALL_BYTES + ("result" in outcome ? this.results.bytes(outcome.result) : 0);
      this.#waiting += slot.bytes;
    }
    this.#wake?.();
  }

  #drop(outcome: NonNullable<Slot<T>["outcome"]>): void {
    if ("result" in outcome) this.results.drop(outcome.result);
  }

  async #takeSettled(): Promise<void> {
    for (let slot = this.#slots[this.#first]; slot !== undefined && slot.outcome !== null; ) {
      const { outcome } = slot;
      this.#remove(slot);
      if ("error" in outcome) throw outcome.error;
      const wait = this.results.take(outcome.result);
      if (wait !== undefined) await wait;
      slot = this.#slots[this.#first];
    }
  }

  /**
   * Removing the first item of a long array does not take constant time. So all items that were taken are removed
   * together, now and then.
   */
  #remove(slot: Slot<T>): void {
    this.#waiting -= slot.bytes;
    slot.outcome = null;
    this.#first++;
    if (this.#first > 32 && this.#first * 2 > this.#slots.length) {
      this.#slots = this.#slots.slice(this.#first);
      this.#first = 0;
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
