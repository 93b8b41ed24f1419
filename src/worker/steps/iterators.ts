/**
 * Iterators that a user's function gave: which results are one, and how they are closed, so that the user's `finally`
 * runs.
 */

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

/**
 * An async iterator whose first item has come: calls that yield are under way at once up to there, and read in their
 * order.
 */
export class BegunIterator implements AsyncIterableIterator<unknown> {
  #first: IteratorResult<unknown> | null;

  private constructor(
    private readonly items: AsyncIterator<unknown>,
    first: IteratorResult<unknown>,
  ) {
    this.#first = first;
  }

  /** What it keeps. */
  get first(): unknown {
    return this.#first?.value;
  }

  static async begin(iterable: AsyncIterable<unknown>): Promise<BegunIterator> {
    const items = iterable[Symbol.asyncIterator]();
    return new BegunIterator(items, await items.next());
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<unknown>> {
    const first = this.#first;
    if (first === null) return this.items.next();
    this.#first = null;
    return Promise.resolve(first);
  }

  async return(): Promise<IteratorResult<unknown>> {
    await this.items.return?.();
    return { value: undefined, done: true };
  }
}
