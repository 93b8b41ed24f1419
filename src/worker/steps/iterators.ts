/** Iterators that a user's function gave: which results are one, and how they are closed, so that the user's `finally` runs. */

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** An iterator of its own, and not an array or another collection. */
export function isGenerator(value: unknown): value is Iterator<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Symbol.iterator in value &&
    "next" in value &&
    typeof value.next === "function"
  );
}

/** Where something else has failed already; nobody waits for it, since it may never end. */
export function closeQuietly(rows: Iterator<unknown> | AsyncIterator<unknown>): void {
  try {
    Promise.resolve(rows.return?.()).catch(() => {});
  } catch {
    // The first failure is told of.
  }
}
