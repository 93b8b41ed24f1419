/**
 * Things in the order of their use, chained through their own fields. A thing needs three fields and no entry in a
 * table. Adding and removing cost the same however many things there are, and the chain can be followed both ways.
 */
import type { Bytes } from "../protocol/index.ts";

export interface Link<T extends Link<T>> {
  /** The chain that the thing is in. */
  order: UseOrder<T> | null;
  older: T | null;
  younger: T | null;
}

export class UseOrder<T extends Link<T>> {
  oldest: T | null = null;
  youngest: T | null = null;
  bytes: Bytes = 0;

  /** Adds the thing at the young end. */
  add(item: T, bytes: Bytes): void {
    item.order = this;
    item.older = this.youngest;
    if (this.youngest === null) this.oldest = item;
    else this.youngest.younger = item;
    this.youngest = item;
    this.bytes += bytes;
  }

  remove(item: T, bytes: Bytes): void {
    if (item.older === null) this.oldest = item.younger;
    else item.older.younger = item.younger;
    if (item.younger === null) this.youngest = item.older;
    else item.younger.older = item.older;
    item.order = null;
    item.older = null;
    item.younger = null;
    this.bytes -= bytes;
  }
}
