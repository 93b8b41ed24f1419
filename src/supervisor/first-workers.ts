/**
 * Who asks a session that has just begun about its workers wants to see all of them: the answer waits until they are
 * up. Only then; later on, an answer is of the moment, whoever is being replaced. And not for ever: workers may take
 * their time, or not come up.
 */
import type { Milliseconds } from "../protocol/index.ts";
import type { Clock } from "./clock.ts";

/** Five times what they take on a busy machine. */
const PATIENCE: Milliseconds = 10_000;

export class FirstWorkers {
  readonly #pool: { readonly isComplete: boolean };
  readonly #clock: Clock;
  /** Null: they have been up, or nobody waits for them any more. */
  #waiting: (() => void)[] | null = [];
  #cancel: (() => void) | null = null;

  constructor(pool: { readonly isComplete: boolean }, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
  }

  /** At once, or when they are up. */
  when(then: () => void): void {
    this.changed();
    if (this.#waiting === null) {
      then();
      return;
    }
    this.#waiting.push(then);
    this.#cancel ??= this.#clock.after(PATIENCE, () => this.#goOn());
  }

  /** A worker has come up, or has ended. */
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
