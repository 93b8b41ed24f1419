/**
 * Ends a consuming call before its work is done, by its signal or its timeout. Everything that works for the call is
 * told at once (`onCancel`). The call itself fails at once, unless a running job decides how it ends.
 */

import { CancelledError, OptionError } from "../../errors/index.ts";
import type { SourceCall } from "../../plan/index.ts";
import type { Milliseconds } from "../../protocol/index.ts";
import { messageOf } from "../../realm/index.ts";
import { formatDuration, parseDuration } from "../../units/index.ts";
import type { FinishedJob, RunningJob } from "../engine.ts";
import { describe } from "../options.ts";
import { onAbort } from "./abort-signals.ts";
import type { Blocks } from "./blocks.ts";

export interface CancelOptions {
  /** Ends the call and all its work when it aborts. */
  readonly signal?: AbortSignal;
  /** The longest time that the call may take: milliseconds, or "30s", "5m". */
  readonly timeout?: number | string;
}

export const cancelKeys = ["signal", "timeout"] as const;

/** Node fires a timer with a longer delay after 1 ms. */
const LONGEST_TIMER: Milliseconds = 2 ** 31 - 1;

export class Cancellation implements SourceCall {
  readonly reads = true;
  readonly #signal: AbortSignal | null;
  readonly #timeout: Milliseconds | null;
  readonly #callbacks = new Set<() => void>();
  #error: CancelledError | null = null;
  #began = 0;
  #timer: NodeJS.Timeout | null = null;
  #forget: (() => void) | null = null;
  /** A running job decides how the call ends. */
  #isDecidedByJob = false;

  constructor(
    private readonly operator: string,
    { signal, timeout }: CancelOptions,
  ) {
    this.#signal = signal === undefined ? null : checkedSignal(operator, signal);
    this.#timeout = timeout === undefined ? null : parseDuration(timeout, `${operator}: timeout`);
  }

  /** The call has neither a signal nor a timeout. */
  get isNever(): boolean {
    return this.#signal === null && this.#timeout === null;
  }

  get error(): CancelledError | null {
    return this.#error;
  }

  /** Starts the timeout and listens to the signal, until `end`. */
  begin(): void {
    this.#began = performance.now();
    if (this.#signal?.aborted === true) this.#aborted(this.#signal);
    else if (this.#signal !== null) {
      const signal = this.#signal;
      this.#forget = onAbort(signal, () => this.#aborted(signal));
    }
    if (this.#timeout !== null && this.#error === null) this.#setTimer(this.#timeout);
  }

  end(): void {
    this.#forget?.();
    this.#forget = null;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  check(): void {
    if (this.#error !== null) throw this.#error;
  }

  /** Calls back once; at once if the call is already cancelled. The returned function removes the callback. */
  onCancel(callback: () => void): () => void {
    if (this.#error !== null) {
      callback();
      return () => {};
    }
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  /** Runs the work with the timeout and the signal in force. */
  async over<T>(work: () => Promise<T>): Promise<T> {
    if (this.isNever) return work();
    this.begin();
    try {
      this.check();
      return await this.race(work());
    } catch (error) {
      throw this.judged(error);
    } finally {
      this.end();
    }
  }

  /** Rejects when the call is cancelled. The work itself goes on; ending it is up to its own `onCancel`. */
  race<T>(work: Promise<T>): Promise<T> {
    if (this.isNever) return work;
    return new Promise((resolve, reject) => {
      const forget = this.onCancel(() => {
        if (!this.#isDecidedByJob) reject(this.#error);
      });
      work.then(resolve, reject).finally(forget);
    });
  }

  /** Asks the job to end, and takes its answer as the result: the job may have finished before it was asked. */
  async decidedBy(job: RunningJob): Promise<FinishedJob> {
    this.#isDecidedByJob = true;
    const forget = this.onCancel(() => job.stop());
    try {
      return await job.finished;
    } finally {
      forget();
      this.#isDecidedByJob = false;
    }
  }

  /** Replaces a job's own CancelledError by the one that names the reason. */
  judged(error: unknown): unknown {
    return error instanceof CancelledError ? (this.#error ?? error) : error;
  }

  /** Blocks for a reader that must hear of a cancel even while it waits for the next block. */
  overBlocks(blocks: Blocks): Blocks {
    if (this.isNever) return blocks;
    const cancellation = this;
    return async function* (prefetch, left) {
      cancellation.begin();
      let rest: ReturnType<Blocks> | null = null;
      try {
        cancellation.check();
        rest = blocks(prefetch, left);
        for (;;) {
          const { value, done } = await cancellation.race(rest.next());
          if (done === true) return;
          yield value;
          cancellation.check();
        }
      } catch (error) {
        throw cancellation.judged(error);
      } finally {
        cancellation.end();
        const over = rest?.return();
        // After a cancel, do not wait for the block that is still on its way.
        if (cancellation.error === null) await over;
        else over?.catch(() => {});
      }
    };
  }

  #setTimer(rest: Milliseconds): void {
    const now = Math.min(rest, LONGEST_TIMER);
    this.#timer = setTimeout(() => (rest > now ? this.#setTimer(rest - now) : this.#timedOut()), now).unref();
  }

  #timedOut(): void {
    const reason = new DOMException("The operation was aborted due to timeout", "TimeoutError");
    const most = formatDuration(this.#timeout ?? 0);
    this.#cancel((after) => `${this.operator} was cancelled after ${after}: its timeout is ${most}.`, reason);
  }

  #aborted({ reason }: AbortSignal): void {
    const why = messageOf(reason);
    this.#cancel((after) => `${this.operator} was cancelled by its signal after ${after}: ${why}`, reason);
  }

  #cancel(message: (after: string) => string, cause: unknown): void {
    if (this.#error !== null) return;
    const after = performance.now() - this.#began;
    this.#error = new CancelledError(message(formatDuration(after)), this.operator, after, { cause });
    this.end();
    for (const callback of [...this.#callbacks]) callback();
    this.#callbacks.clear();
  }
}

/** For work that cannot be cancelled. */
export const never = new Cancellation("", {});

/** Judges a signal by its members: the class of a signal from another realm (a test runner's) is a different one. */
function checkedSignal(operator: string, signal: unknown): AbortSignal {
  if (isSignal(signal)) return signal;
  throw new OptionError(`${operator}: signal is ${describe(signal)}; it must be an AbortSignal.`);
}

function isSignal(value: unknown): value is AbortSignal {
  return (
    typeof value === "object" &&
    value !== null &&
    "aborted" in value &&
    "addEventListener" in value &&
    typeof value.aborted === "boolean" &&
    typeof value.addEventListener === "function"
  );
}
