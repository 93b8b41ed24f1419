/** A link after a task's last function: says when the function has handed on its first batch. */
import type { RecordBatch } from "../../arrow/index.ts";
import type { Link } from "../link.ts";

export class FirstBatch implements Link {
  #isTold = false;

  constructor(
    private readonly next: Link,
    private readonly tell: () => void,
  ) {}

  get wanted(): number {
    return this.next.wanted;
  }

  get takesEach(): boolean {
    return this.next.takesEach;
  }

  push(batch: RecordBatch): void | Promise<void> {
    if (this.#isTold) return this.next.push(batch);
    this.#isTold = true;
    // Before the batch is handed on: the next link may wait for room.
    this.tell();
    return this.next.push(batch);
  }

  end(): void | Promise<void> {
    return this.next.end();
  }

  close(): void {
    this.next.close();
  }
}
