/**
 * Has a user's container let go of memory: calls its `evict()` until enough is free. It is the user's code: it may free
 * nothing, throw, answer nonsense or never. Whoever asked is told in any case whether asking again could help.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { EvictingContainer } from "../container/index.ts";
import type { Bytes, Milliseconds } from "../protocol/index.ts";

/**
 * For one call. Something large goes to a slow disk in less; what takes longer waits for something that does not come.
 */
const EVICT_PATIENCE: Milliseconds = 10_000;
/** How long calls that never wait may keep the event loop waiting. */
const TURN: Milliseconds = 20;

interface LetGo {
  readonly freed: Bytes;
  /** It has freed all that it was asked for. */
  readonly isEnough: boolean;
}

export class LettingGo {
  /** A call that was not waited for any longer. */
  #isStuck = false;

  /** `failed` is told what is wrong with it. */
  constructor(private readonly failed: (text: string) => void) {}

  async free(container: EvictingContainer, bytes: Bytes): Promise<LetGo> {
    let freed = 0;
    let turnStarted = performance.now();
    while (freed < bytes && !this.#isStuck) {
      const more = await this.#once(container);
      if (more === null) break;
      freed += more;
      if (performance.now() - turnStarted > TURN) {
        await nextTurn();
        turnStarted = performance.now();
      }
    }
    return { freed, isEnough: freed >= bytes };
  }

  /** Null: it frees no more. */
  async #once(container: EvictingContainer): Promise<Bytes | null> {
    try {
      const answer: unknown = container.evict();
      const freed = typeof answer === "number" ? answer : await this.#inTime(answer);
      if (typeof freed === "number" && freed > 0) return freed;
      if (typeof freed !== "number" || Number.isNaN(freed)) {
        this.failed(`evict() of the worker data returned ${String(freed)}; it must return the freed bytes, or −1`);
      }
    } catch (error) {
      this.failed(`evict() of the worker data threw ${String(error)}`);
    }
    return null;
  }

  /** −1 where it takes too long; it is not called again before that call has ended. */
  async #inTime(answer: unknown): Promise<unknown> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<number>((resolve) => {
      timer = setTimeout(() => {
        this.#isStuck = true;
        this.failed(`evict() of the worker data has not ended after ${EVICT_PATIENCE / 1000} s`);
        resolve(-1);
      }, EVICT_PATIENCE).unref();
    });
    const ended = Promise.resolve(answer).finally(() => {
      this.#isStuck = false;
      clearTimeout(timer);
    });
    // Nobody waits for it any more when it is late.
    ended.catch(() => {});
    return Promise.race([ended, late]);
  }
}
