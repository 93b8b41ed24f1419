/** Time as the supervisor sees it, so that a test need not wait for it, and durations may be as long as users like. */
import type { Milliseconds } from "../protocol/index.ts";

export interface Clock {
  now(): Milliseconds;
  /** Calls `then` once, unless what it gives is called before. It keeps nothing alive. */
  after(pause: Milliseconds, then: () => void): () => void;
}

/** 25 days: a timer of Node's that is to wait longer fires at once. */
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

/** Calls `then` again and again, until what it gives is called. */
export function every(clock: Clock, pause: Milliseconds, then: () => void): () => void {
  const again = () => {
    cancel = clock.after(pause, again);
    then();
  };
  let cancel = clock.after(pause, again);
  return () => cancel();
}
