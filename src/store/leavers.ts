/**
 * The blocks that could leave memory (resident and not pinned), in the order in which they would leave: blocks that no
 * task is about to read, with and without a file, and blocks that flow. The scheduler decides which of them leave, and
 * when.
 */
import type { BlockId, Bytes } from "../protocol/index.ts";
import { type Entry, pagesOf } from "./entry.ts";
import { UseOrder } from "./use-order.ts";

export class Leavers {
  readonly #unfiled = new UseOrder<Entry>();
  readonly #filed = new UseOrder<Entry>();
  readonly #warm = new UseOrder<Entry>();

  get coldBytes(): Bytes {
    return this.#unfiled.bytes + this.#filed.bytes;
  }

  get warmBytes(): Bytes {
    return this.#warm.bytes;
  }

  isCold({ order }: Entry): boolean {
    return order === this.#unfiled || order === this.#filed;
  }

  /** Puts the block at the young end of the order that it now belongs to, if any. */
  settle(entry: Entry): void {
    this.remove(entry);
    if (entry.state !== "resident" || entry.pins > 0) return;
    const order = entry.flowing > 0 ? this.#warm : entry.place === null ? this.#unfiled : this.#filed;
    order.add(entry, pagesOf(entry));
  }

  remove(entry: Entry): void {
    entry.order?.remove(entry, pagesOf(entry));
  }

  /**
   * Blocks that do not flow, least recently used first; among equals, one that already has a file, because evicting it
   * is free. Lazy: there may be a million, and the caller needs a few. The caller may evict the block it was given
   * last.
   */
  *cold(): IterableIterator<BlockId> {
    let unfiled = this.#unfiled.oldest;
    let filed = this.#filed.oldest;
    while (unfiled !== null || filed !== null) {
      if (filed !== null && (unfiled === null || filed.used <= unfiled.used)) {
        const { id } = filed;
        filed = filed.younger;
        yield id;
      } else if (unfiled !== null) {
        const { id } = unfiled;
        unfiled = unfiled.younger;
        yield id;
      }
    }
  }

  /** Blocks that flow, most recently used first: queues are read from the other end. */
  *warm(): IterableIterator<BlockId> {
    for (let entry = this.#warm.youngest; entry !== null; ) {
      const { id } = entry;
      entry = entry.older;
      yield id;
    }
  }
}
