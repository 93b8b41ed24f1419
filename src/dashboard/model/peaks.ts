/** The highest value of each key. Of very many keys, only those with the highest values are kept. */
import type { Bytes } from "../../protocol/index.ts";

export class Peaks {
  #all = new Map<string, Bytes>();

  constructor(private readonly most: number) {}

  add(key: string, bytes: Bytes): void {
    if (bytes <= (this.#all.get(key) ?? 0)) return;
    this.#all.set(key, bytes);
    // Now and then: sorting for each new key would be expensive.
    if (this.#all.size >= 2 * this.most) this.#all = new Map(this.#sorted().slice(0, this.most));
  }

  /** The keys with the highest values, highest first. */
  highest(count: number): readonly string[] {
    return this.#sorted()
      .slice(0, count)
      .map(([key]) => key);
  }

  #sorted(): [string, Bytes][] {
    return [...this.#all].sort(([, one], [, two]) => two - one);
  }
}
