/**
 * When a worker that died for memory is replaced: after 1 s, its replacement after 2, that one's after 4, … 30 at most,
 * as long as no task is done in between; after five in a row not before somebody has new work. Workers that die
 * together count once. What died of anything else is not held back.
 */
import type { Milliseconds } from "../protocol/index.ts";
import type { Clock } from "./clock.ts";

const FIRST_PAUSE: Milliseconds = 1_000;
const LONGEST_PAUSE: Milliseconds = 30_000;
const IN_A_ROW = 5;

/** Deaths in a row; another object once a task was done. */
interface Row {
  deaths: number;
}

/** How many had died in a row when a worker was started. */
export interface Birth {
  readonly row: Row;
  readonly deaths: number;
}

export class Restarts {
  readonly #clock: Clock;
  readonly #onDue: () => void;
  #row: Row = { deaths: 0 };
  /** Replacements that wait for their time, by what ends the wait, and those that wait for new work. */
  readonly #waiting = new Set<() => void>();
  #withheld = 0;

  /** `onDue`: fewer are held back than before. */
  constructor(clock: Clock, onDue: () => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** Workers that are not to be started now. */
  get heldBack(): number {
    return this.#waiting.size + this.#withheld;
  }

  /** Nothing is started any more by itself. */
  get hasGivenUp(): boolean {
    return this.#withheld > 0 && this.#waiting.size === 0;
  }

  get deaths(): number {
    return this.#row.deaths;
  }

  started(): Birth {
    return { row: this.#row, deaths: this.#row.deaths };
  }

  diedForMemory(birth: Birth): void {
    const inARow = birth.row === this.#row ? birth.deaths + 1 : 1;
    this.#row.deaths = Math.max(this.#row.deaths, inARow);
    if (inARow > IN_A_ROW) {
      this.#withheld += 1;
      return;
    }
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (inARow - 1));
    const cancel = this.#clock.after(pause, () => {
      this.#waiting.delete(cancel);
      this.#onDue();
    });
    this.#waiting.add(cancel);
  }

  /** It can be done: the next death is the first again. */
  taskDone(): void {
    if (this.#row.deaths > 0) this.#beginAnew();
  }

  workComes(): void {
    if (this.hasGivenUp) this.#beginAnew();
  }

  #beginAnew(): void {
    this.#row = { deaths: 0 };
    if (this.#withheld === 0) return;
    this.#withheld = 0;
    this.#onDue();
  }

  close(): void {
    for (const cancel of this.#waiting) cancel();
    this.#waiting.clear();
  }
}
