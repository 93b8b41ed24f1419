/**
 * Asks the worker data to free memory: calls its `evict()` until enough is free. It is the user's code: it may free
 * nothing, throw, return nonsense, or never answer. The caller always learns whether asking again could help.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Bytes, Milliseconds } from "../protocol/index.ts";
import type { EvictingWorkerData } from "../worker-data/index.ts";

/**
 * For one call. Writing a large value to a slow disk takes less. A call that takes longer waits for something that
 * never comes.
 */
const EVICT_PATIENCE: Milliseconds = 10_000;
/** How long calls that never wait may block the event loop. */
const TURN: Milliseconds = 20;

interface LetGo {
  readonly freed: Bytes;
  /** True when everything that was asked for has been freed. */
  readonly isEnough: boolean;
}

export class LettingGo {
  /** A call took too long and is still under way. */
  #isStuck = false;

  /** `failed` gets the description of a fault. */
  constructor(private readonly failed: (text: string) => void) {}

  async free(data: EvictingWorkerData, bytes: Bytes): Promise<LetGo> {
    let freed = 0;
    let turnStarted = performance.now();
    while (freed < bytes && !this.#isStuck) {
      const more = await this.#once(data);
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
  async #once(data: EvictingWorkerData): Promise<Bytes | null> {
    try {
      const answer: unknown = data.evict();
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

  /** −1 if it takes too long. It is not called again until that call has ended. */
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
    // A rejection after the time limit is of no interest.
    ended.catch(() => {});
    return Promise.race([ended, late]);
  }
}
