/**
 * How many rows are handed on at a time. Where few are wanted it is as few, so that nobody waits for rows of a slow
 * function that are not needed; each time those were not enough it is twice as many. It follows from the task's rows
 * and its limit alone: a replay makes the same pieces.
 */
import type { Stage } from "../stage.ts";

export class PieceRows {
  #rows: number;

  constructor(
    private readonly next: Stage,
    private readonly most: number,
  ) {
    this.#rows = Math.min(most, next.wanted);
  }

  get rows(): number {
    return this.#rows;
  }

  handedOn(): void {
    const { wanted, takesEach } = this.next;
    this.#rows = Math.min(this.most, takesEach ? wanted : Math.max(wanted, 2 * this.#rows));
  }
}
