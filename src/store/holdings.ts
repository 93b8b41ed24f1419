/** How many references and bytes each holder keeps alive. Knows no blocks. */
import { StoreError } from "../errors/index.ts";
import type { Bytes } from "../protocol/index.ts";
import type { Holder } from "./entry.ts";

export interface Held {
  references: number;
  /** Each block counts once, in whole pages, in memory and on disk alike. */
  bytes: Bytes;
}

export class Holdings {
  readonly #held = new Map<Holder, Held>();

  of(holder: Holder): Readonly<Held> {
    return this.#held.get(holder) ?? { references: 0, bytes: 0 };
  }

  /**
   * Adds or removes one reference. `bytes` is given with the holder's first or last reference to the block, and is 0
   * otherwise.
   */
  count(holder: Holder, sign: 1 | -1, bytes: Bytes): void {
    let held = this.#held.get(holder);
    if (held === undefined) {
      held = { references: 0, bytes: 0 };
      this.#held.set(holder, held);
    }
    held.references += sign;
    held.bytes += sign * bytes;
    if (held.references === 0) this.#held.delete(holder);
  }

  assertSum(references: number): void {
    let difference = references;
    for (const held of this.#held.values()) difference -= held.references;
    if (difference !== 0) throw new StoreError(`Blocks and holders differ by ${difference} references.`);
  }
}
