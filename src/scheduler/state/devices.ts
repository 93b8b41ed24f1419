/**
 * Which GPUs are free, device by device. Whole requests get devices of their own; parts of one share a device, on the
 * fullest that still has enough, so that whole ones stay free. Knows names and amounts, not who has them.
 */

/** The smallest part of a device, as in resources.ts. */
const PARTS = 10_000;

export class DevicePool {
  readonly #free: Map<string, number>;

  constructor(names: readonly string[]) {
    this.#free = new Map(names.map((name) => [name, PARTS]));
  }

  get count(): number {
    return this.#free.size;
  }

  /** GPUs in use, parts added up. */
  get used(): number {
    let free = 0;
    for (const parts of this.#free.values()) free += parts;
    return (this.#free.size * PARTS - free) / PARTS;
  }

  canTake(amount: number): boolean {
    return this.#choose(amount, []) !== null;
  }

  /** Names of the devices; null if there are not enough. `near`: devices to prefer, if they are free. */
  take(amount: number, near: readonly string[] = []): readonly string[] | null {
    const chosen = this.#choose(amount, near);
    for (const name of chosen ?? []) this.#change(name, -partsOf(amount));
    return chosen;
  }

  giveBack(names: readonly string[], amount: number): void {
    for (const name of names) this.#change(name, partsOf(amount));
  }

  #choose(amount: number, near: readonly string[]): readonly string[] | null {
    if (amount === 0) return [];
    const parts = partsOf(amount);
    const fitting = [...this.#free].filter(([, free]) => free >= parts);
    fitting.sort(([a, mine], [b, theirs]) => Number(near.includes(b)) - Number(near.includes(a)) || mine - theirs);
    const count = Math.max(1, amount);
    if (fitting.length < count) return null;
    const chosen = new Set(fitting.slice(0, count).map(([name]) => name));
    return [...this.#free.keys()].filter((name) => chosen.has(name));
  }

  #change(name: string, parts: number): void {
    const free = (this.#free.get(name) ?? 0) + parts;
    if (free < 0 || free > PARTS) throw new Error(`GPU ${name} would have ${free / PARTS} of itself free`);
    this.#free.set(name, free);
  }
}

/** Parts of one device. */
function partsOf(amount: number): number {
  return Math.round(Math.min(1, amount) * PARTS);
}
