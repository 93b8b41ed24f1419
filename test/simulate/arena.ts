/** What is written where in the simulated store: reading a range that was given away shows as wrong rows. */
import type { ArenaRange } from "../../src/protocol/index.ts";

export class SimulatedArena {
  readonly #rows = new Map<number, readonly number[]>();

  write({ offset }: ArenaRange, rows: readonly number[]): void {
    this.#rows.set(offset, rows);
  }

  /** What is written is another array each time, so the same array is the same rows. */
  at({ offset }: ArenaRange): readonly number[] {
    const rows = this.#rows.get(offset);
    if (rows === undefined) throw new Error(`there is nothing at ${offset}`);
    return rows;
  }
}
