/**
 * How many rows are handed on at a time. If few rows are wanted, only so many, so that nothing waits for unneeded rows
 * of a slow function. Each time they were not enough, the number doubles. It depends only on the task's rows and its
 * limit, so that a replay makes the same pieces.
 */
import type { Link } from "../link.ts";

export class PieceRows {
  #rows: number;

  constructor(
    private readonly next: Link,
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
