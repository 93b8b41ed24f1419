/** The supervisor's clock, replaced in tests. Durations may be of any length. */
import type { Milliseconds } from "../protocol/index.ts";

export interface Clock {
  now(): Milliseconds;
  /** Calls `then` once, unless the returned function is called before. Does not keep the process alive. */
  after(pause: Milliseconds, then: () => void): () => void;
}

/** 25 days: a Node timer with a longer delay fires at once. */
const LONGEST_TIMER: Milliseconds = 2 ** 31 - 1;

export const realClock: Clock = {
  now: () => performance.now(),
  after(pause, then) {
    let timer: NodeJS.Timeout;
    const wait = (left: Milliseconds) => {
      const next = () => (left > LONGEST_TIMER ? wait(left - LONGEST_TIMER) : then());
      timer = setTimeout(next, Math.min(left, LONGEST_TIMER)).unref();
    };
    wait(pause);
    return () => clearTimeout(timer);
  },
};

/** Calls `then` repeatedly, until the returned function is called. */
export function every(clock: Clock, pause: Milliseconds, then: () => void): () => void {
  const again = () => {
    cancel = clock.after(pause, again);
    then();
  };
  let cancel = clock.after(pause, again);
  return () => cancel();
}
