/** A queue with constant cost at both ends. */

export class Fifo<T> {
  #items: T[] = [];
  #first = 0;

  get length(): number {
    return this.#items.length - this.#first;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Before all others. */
  unshift(item: T): void {
    if (this.#first === 0) this.#items.unshift(item);
    else {
      this.#first -= 1;
      this.#items[this.#first] = item;
    }
  }

  peek(): T | undefined {
    return this.#items[this.#first];
  }

  shift(): T | undefined {
    const item = this.#items[this.#first];
    if (item === undefined) return undefined;
    this.#first += 1;
    // Half of the array has been taken: move the rest once, at a constant cost per item in the long run.
    if (this.#first > 32 && this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }

  *[Symbol.iterator](): IterableIterator<T> {
    for (let i = this.#first; i < this.#items.length; i++) {
      const item = this.#items[i];
      if (item !== undefined) yield item;
    }
  }

  drain(): T[] {
    const rest = this.#items.slice(this.#first);
    this.#items = [];
    this.#first = 0;
    return rest;
  }
}
