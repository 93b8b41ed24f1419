/**
 * The blocks that come to a fed task while it runs, in order of arrival. There is one reader, which may wait; a cancel
 * ends its wait.
 */
import type { PlacedSlice } from "../protocol/index.ts";

export interface FedBlocks {
  readonly table: number;
  readonly slices: readonly PlacedSlice[];
}

export class Feed {
  #waiting: FedBlocks[] = [];
  #ended = false;
  #wake: (() => void) | null = null;

  push(blocks: FedBlocks): void {
    this.#waiting.push(blocks);
    this.#wake?.();
  }

  /** No more blocks come. Also called by a cancel, to end the reader's wait. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** All blocks since the last call, at least one; null at the end. */
  async next(): Promise<readonly FedBlocks[] | null> {
    while (this.#waiting.length === 0) {
      if (this.#ended) return null;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
    const came = this.#waiting;
    this.#waiting = [];
    return came;
  }
}
