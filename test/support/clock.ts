/** A clock that stands still until a test moves it. */
import type { Clock } from "../../src/supervisor/clock.ts";

export class TestClock implements Clock {
  readonly #timers = new Set<{ readonly at: number; readonly then: () => void }>();
  #now = 0;

  now(): number {
    return this.#now;
  }

  after(pause: number, then: () => void): () => void {
    const timer = { at: this.#now + pause, then };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** The remaining time of each timer that is set. */
  get pauses(): number[] {
    return [...this.#timers].map(({ at }) => at - this.#now);
  }

  pass(time: number): void {
    this.#now += time;
    for (const timer of [...this.#timers]) {
      if (timer.at <= this.#now && this.#timers.delete(timer)) timer.then();
    }
  }
}
