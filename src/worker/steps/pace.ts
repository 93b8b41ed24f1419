/**
 * When a loop over calls of user code checks the clock: seldom if calls take microseconds, after each call if they take
 * long, so that a cancel is noticed between two calls.
 */
import type { TaskScope } from "../link.ts";

const MOST_CALLS = 64;
const SLOW_MS = 1;

export class Pace {
  #calls = 1;
  #left = 1;
  #looked = performance.now();

  constructor(private readonly scope: TaskScope) {}

  /** Called after each call. */
  step(): void | Promise<void> {
    this.#left--;
    if (this.#left <= 0) return this.#look();
  }

  #look(): void | Promise<void> {
    const now = performance.now();
    this.#calls = now - this.#looked > SLOW_MS ? 1 : Math.min(MOST_CALLS, this.#calls * 2);
    this.#left = this.#calls;
    this.#looked = now;
    return this.scope.turn();
  }
}
