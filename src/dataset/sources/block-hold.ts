/**
 * Blocks that something of the program holds: they are let go of when it says so, or when it is collected as garbage.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { BlockId } from "../../protocol/index.ts";
import type { Engine } from "../engine.ts";

const collected = new FinalizationRegistry<() => void>((release) => release());

/** Lets go of blocks once. */
export class BlockHold {
  #blocks: readonly BlockId[] | null;

  constructor(
    private readonly engine: Pick<Engine, "release">,
    blocks: readonly BlockId[],
  ) {
    this.#blocks = blocks;
  }

  /** Ties the hold to an object's life. The hold must not be reachable from the release, nor the object from it. */
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

/** Registries of the program's own may come first, one a turn. */
const MOST_TURNS = 100;

/**
 * Resolves when `collect` has collected garbage and the blocks of what it found are released: that is in a later turn.
 */
export async function afterCollection(collect: () => Promise<void>): Promise<void> {
  const probe = registerGarbage();
  await collect();
  for (let turns = 0; !probe.isFound && turns < MOST_TURNS; turns++) await nextTurn();
}

/** Something that any collection finds, together with all else of its registry. */
function registerGarbage(): { readonly isFound: boolean } {
  const probe = { isFound: false };
  collected.register({}, () => {
    probe.isFound = true;
  });
  return probe;
}
