/** Lets the first `most` rows of a task through; then the task may stop reading. */
import { type RecordBatch, sliceBatch } from "../../arrow/index.ts";
import type { Stage } from "../stage.ts";

export class Head implements Stage {
  #left: number;

  constructor(
    most: number,
    private readonly next: Stage,
  ) {
    this.#left = most;
  }

  /** Where the sink wants fewer for now, it will want more after them. */
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
