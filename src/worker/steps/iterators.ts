/**
 * Iterators that a user's function returned: which results are one, and how they are closed so that the user's
 * `finally` runs.
 */

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** An iterator itself, and not an array or another collection. */
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

/** Used after another failure. The close is not awaited, because it may never end. */
export function closeQuietly(rows: Iterator<unknown> | AsyncIterator<unknown>): void {
  try {
    Promise.resolve(rows.return?.()).catch(() => {});
  } catch {
    // Only the first failure is reported.
  }
}

/**
 * An async iterator whose first item has come. Several calls that yield run up to this point at once; then they are
 * read in order.
 */
export class BegunIterator implements AsyncIterableIterator<unknown> {
  #first: IteratorResult<unknown> | null;

  private constructor(
    private readonly items: AsyncIterator<unknown>,
    first: IteratorResult<unknown>,
  ) {
    this.#first = first;
  }

  /** What it holds. */
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
