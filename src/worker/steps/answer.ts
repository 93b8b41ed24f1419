/** What became of one asynchronous call: never a rejection, so that failures are judged in the order of the calls. */
import type { Bytes } from "../../protocol/index.ts";
import { sizeof } from "../../sizeof/index.ts";
import { BegunIterator, closeQuietly } from "./iterators.ts";

/** `G` is what the call was given, and which rows that was. */
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

/** An error's text is made when it is looked at, which costs more than it takes. */
const ERROR_BYTES: Bytes = 4096;

/** About what it takes while it waits; `kept` is what it keeps of what the call was given. */
export function answerBytes({ value, failed }: Answer<unknown>, kept: unknown): Bytes {
  try {
    if (failed) return ERROR_BYTES + sizeof(kept);
    return sizeof([kept, value instanceof BegunIterator ? value.first : value]);
  } catch {
    // A measure of the user's own that throws: nothing is known.
    return 0;
  }
}

/** Nobody wants it any more: an iterator that was begun is closed. */
export function dropAnswer({ value }: Answer<unknown>): void {
  if (value instanceof BegunIterator) closeQuietly(value);
}
