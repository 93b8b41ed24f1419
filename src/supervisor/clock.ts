/** Time as the pool and the summary see it, so that a test need not wait for it. */
import type { Milliseconds } from "../protocol/index.ts";

export interface Clock {
  now(): Milliseconds;
  /** Calls `then` once, unless what it gives is called before. It keeps nothing alive. */
  after(pause: Milliseconds, then: () => void): () => void;
}

export const realClock: Clock = {
  now: () => performance.now(),
  after(pause, then) {
    const timer = setTimeout(then, pause).unref();
    return () => clearTimeout(timer);
  },
};
