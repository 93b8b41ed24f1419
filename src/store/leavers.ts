/**
 * The blocks that could leave memory, resident and not pinned, in the order in which they would: those that nobody is
 * about to read, without and with a file, and those that flow. Who leaves, and when, is the scheduler's.
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

  /** Puts the block at the young end of the order of use it belongs to now, if any. */
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
   * Those that do not flow, least recently used first; among equals one that has its file, because evicting it is free.
   * Lazily: there may be a million, and a few are enough. The one told last may be evicted meanwhile.
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

  /** Those that flow, the one used last first: queues are taken from the other end. */
  *warm(): IterableIterator<BlockId> {
    for (let entry = this.#warm.youngest; entry !== null; ) {
      const { id } = entry;
      entry = entry.older;
      yield id;
    }
  }
}
