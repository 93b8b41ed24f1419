/**
 * A request about the workers of a new session waits until all of them are connected. Later requests are answered at
 * once, even while a worker is being replaced. The wait has a limit, because workers may be slow or fail to start.
 */
import type { Milliseconds } from "../protocol/index.ts";
import type { Clock } from "./clock.ts";

/** Five times the duration of a start on a busy machine. */
const PATIENCE: Milliseconds = 10_000;

export class FirstWorkers {
  readonly #pool: { readonly isComplete: boolean };
  readonly #clock: Clock;
  /** Null: all were connected once, or the wait is over. */
  #waiting: (() => void)[] | null = [];
  #cancel: (() => void) | null = null;

  constructor(pool: { readonly isComplete: boolean }, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
  }

  /** Calls `then` at once, or when the workers are connected. */
  when(then: () => void): void {
    this.changed();
    if (this.#waiting === null) {
      then();
      return;
    }
    this.#waiting.push(then);
    this.#cancel ??= this.#clock.after(PATIENCE, () => this.#goOn());
  }

  /** A worker has connected or ended. */
  changed(): void {
    if (this.#waiting !== null && this.#pool.isComplete) this.#goOn();
  }

  #goOn(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    this.#cancel?.();
    for (const then of waiting) then();
  }
}
