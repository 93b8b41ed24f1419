/**
 * The outcome of one asynchronous call. It is never a rejection, so that failures are judged in the order of the calls.
 */
import type { Bytes } from "../../protocol/index.ts";
import { sizeof } from "../../sizeof/index.ts";
import { BegunIterator, closeQuietly } from "./iterators.ts";

/** `G` is what the call got, and which rows these were. */
export interface Answer<G> {
  readonly given: G;
  /** What was returned or thrown. */
  readonly value: unknown;
  readonly failed: boolean;
}

export function answerOf<G>(given: G, result: PromiseLike<unknown>): PromiseLike<Answer<G>> {
  return result.then(
    (value) => ({ given, value, failed: false }),
    (value: unknown) => ({ given, value, failed: true }),
  );
}

/** V8 makes the text of an error's stack when it is first read: until then the error looks smaller than it is. */
const ERROR_BYTES: Bytes = 4096;

/** About how many bytes it takes while it waits. `kept` is what it keeps of the call's input. */
export function answerBytes({ value, failed }: Answer<unknown>, kept: unknown): Bytes {
  try {
    if (failed) return ERROR_BYTES + sizeof(kept);
    return sizeof([kept, value instanceof BegunIterator ? value.first : value]);
  } catch {
    // The user's own measure threw: nothing is known.
    return 0;
  }
}

/** The answer is not wanted any more: an iterator that was started is closed. */
export function dropAnswer({ value }: Answer<unknown>): void {
  if (value instanceof BegunIterator) closeQuietly(value);
}
