/** The clock of the simulated world: what happens when, in the order of the times, among equals of the asking. */

export class Agenda {
  readonly #entries: { readonly at: number; readonly run: () => void }[] = [];
  now = 0;

  get nextAt(): number | null {
    return this.#entries[0]?.at ?? null;
  }

  later(delay: number, run: () => void): void {
    const entry = { at: this.now + delay, run };
    let at = this.#entries.length;
    while (at > 0) {
      const before = this.#entries[at - 1];
      if (before === undefined || before.at <= entry.at) break;
      at -= 1;
    }
    this.#entries.splice(at, 0, entry);
  }

  runNext(): void {
    const next = this.#entries.shift();
    if (next === undefined) return;
    this.now = next.at;
    next.run();
  }
}
