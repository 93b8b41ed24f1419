/** A bounded list of the items with the highest scores. All others are only counted. */
export class Top<Item> {
  /** Unsorted, with up to twice the bound: sorting now and then costs less than keeping every item in its place. */
  #held: { readonly score: number; readonly item: Item }[] = [];
  /** A score must be above this to be among the highest. */
  #least = Number.NEGATIVE_INFINITY;
  seen = 0;

  constructor(private most: number) {}

  /** Counts an item. False when its score is too low, so that the caller need not make the item. */
  takes(score: number): boolean {
    this.seen += 1;
    return score > this.#least;
  }

  add(score: number, item: Item): void {
    this.#held.push({ score, item });
    if (this.#held.length >= 2 * this.most) this.#cut();
  }

  /** The highest first; among equals, the earliest. */
  get items(): readonly Item[] {
    this.#cut();
    return this.#held.map(({ item }) => item);
  }

  /** From now on, only the `most` highest. */
  shrink(most: number): void {
    this.most = Math.min(this.most, most);
    this.#cut();
  }

  #cut(): void {
    this.#held = this.#held.sort((one, two) => two.score - one.score).slice(0, this.most);
    if (this.#held.length === this.most) this.#least = this.#held.at(-1)?.score ?? this.#least;
  }
}
