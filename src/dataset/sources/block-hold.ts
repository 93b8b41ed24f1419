/**
 * Blocks that an object of the program holds. They are released when the object says so, or when it is
 * garbage-collected.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { BlockId } from "../../protocol/index.ts";
import type { Engine } from "../engine.ts";

const collected = new FinalizationRegistry<() => void>((release) => release());

/** Releases blocks once. */
export class BlockHold {
  #blocks: readonly BlockId[] | null;

  constructor(
    private readonly engine: Pick<Engine, "release">,
    blocks: readonly BlockId[],
  ) {
    this.#blocks = blocks;
  }

  /**
   * Releases the blocks when the object is collected. The object must be unreachable from the release function, and the
   * hold must be unreachable from the object.
   */
  follow(owner: object): void {
    const { engine } = this;
    const blocks = this.#blocks ?? [];
    collected.register(owner, () => engine.release(blocks), this);
  }

  get released(): boolean {
    return this.#blocks === null;
  }

  release(): void {
    if (this.#blocks === null) return;
    this.engine.release(this.#blocks);
    this.#blocks = null;
    collected.unregister(this);
  }
}

/** Node calls one registry in each turn of the event loop, and registries of the program may come first. */
const MOST_TURNS = 100;

/**
 * Resolves when `collect` has run and the blocks of the collected objects are released, which happens in a later turn.
 */
export async function afterCollection(collect: () => Promise<void>): Promise<void> {
  const probe = registerGarbage();
  await collect();
  for (let turns = 0; !probe.isFound && turns < MOST_TURNS; turns++) await nextTurn();
}

/** Registers an object that every collection finds: all else that the collection found is reported together with it. */
function registerGarbage(): { readonly isFound: boolean } {
  const probe = { isFound: false };
  collected.register({}, () => {
    probe.isFound = true;
  });
  return probe;
}
