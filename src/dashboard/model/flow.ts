/** What flows through the session per second: rows, bytes, and bytes to and from disk. */
import type { Milliseconds } from "../../protocol/index.ts";
import { mean, PointSeries } from "./series.ts";

const SECOND = 1_000;

interface Amounts {
  rows: number;
  bytes: number;
  spilled: number;
  restored: number;
}

export class Flow {
  readonly series = new PointSeries(SECOND, mean);
  #from: Milliseconds = 0;
  #amounts: Amounts = nothing();

  add(at: Milliseconds, amounts: Partial<Amounts>): void {
    this.passes(at);
    this.#amounts.rows += amounts.rows ?? 0;
    this.#amounts.bytes += amounts.bytes ?? 0;
    this.#amounts.spilled += amounts.spilled ?? 0;
    this.#amounts.restored += amounts.restored ?? 0;
  }

  /** Closes the seconds that have passed, even when nothing flowed in them. */
  passes(at: Milliseconds): void {
    if (at - this.#from < SECOND) return;
    const { rows, bytes, spilled, restored } = this.#amounts;
    this.series.add({ at: this.#from, values: { rows, bytes, spilled, restored } });
    const next = at - (at % SECOND);
    // A stretch without any flow needs only its two ends.
    if (next - this.#from > 2 * SECOND) {
      this.series.add({ at: this.#from + SECOND, values: { ...nothing() } });
      this.series.add({ at: next - SECOND, values: { ...nothing() } });
    }
    this.#from = next;
    this.#amounts = nothing();
  }
}

function nothing(): Amounts {
  return { rows: 0, bytes: 0, spilled: 0, restored: 0 };
}
