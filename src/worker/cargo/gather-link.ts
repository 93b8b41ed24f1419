/** The link between a query over references and the next step or sink. */
import type { RecordBatch } from "../../arrow/index.ts";
import type { Link } from "../link.ts";
import type { Gatherer } from "./gatherer.ts";

export class GatherLink implements Link {
  readonly takesEach = true;

  constructor(
    private readonly gatherer: Gatherer,
    private readonly next: Link,
    /** Gives a cancel its turn. */
    private readonly turn: () => void | Promise<void>,
  ) {}

  get wanted(): number {
    return this.next.wanted;
  }

  async push(batch: RecordBatch): Promise<void> {
    for (const piece of this.gatherer.pieces(batch)) {
      if (this.next.wanted <= 0) return;
      const wait = this.next.push(piece);
      if (wait !== undefined) await wait;
      await this.turn();
    }
  }

  end(): void | Promise<void> {
    return this.next.end();
  }

  close(): void {
    this.next.close();
  }
}
