/** Lets the first `most` rows of a task through; after that the task may stop reading. */
import { type RecordBatch, sliceBatch } from "../../arrow/index.ts";
import type { Link } from "../link.ts";

export class Head implements Link {
  #left: number;

  constructor(
    most: number,
    private readonly next: Link,
  ) {
    this.#left = most;
  }

  /** If the sink wants fewer rows for now, it will want more afterwards. */
  get takesEach(): boolean {
    return this.#left <= this.next.wanted;
  }

  get wanted(): number {
    return Math.min(this.#left, this.next.wanted);
  }

  push(batch: RecordBatch): void | Promise<void> {
    if (this.#left <= 0) return;
    const taken = Math.min(this.#left, batch.length);
    this.#left -= taken;
    return this.next.push(taken === batch.length ? batch : sliceBatch(batch, 0, taken));
  }

  end(): void | Promise<void> {
    return this.next.end();
  }

  close(): void {
    this.next.close();
  }
}
