/** The process of a round: plays its seeds, and says of each what is wrong with it, if anything is. */
import { Endless, KINDS } from "./kinds.ts";
import { Peers } from "./peers.ts";
import { World } from "./world.ts";

export interface Round {
  readonly seeds: readonly number[];
  readonly kinds: readonly string[];
  readonly python: string | null;
  /** No case begins after this moment, in milliseconds since 1970. */
  readonly until: number;
}

export type Report = { readonly seed: number; readonly kind: string; readonly wrong: string | null };

async function main({ seeds, kinds, python, until }: Round): Promise<void> {
  const names = Object.keys(KINDS);
  const world = new World(python === null ? null : new Peers(python));
  try {
    for (const seed of seeds) {
      // Whichever kinds are chosen: a seed alone says what it is.
      const kind = names[seed % names.length] ?? "";
      if (!kinds.includes(kind) || Date.now() > until) continue;
      const wrong = (await KINDS[kind]?.wrong(world, seed)) ?? null;
      const told = wrong instanceof Error ? wrong.message : wrong;
      process.send?.({ seed, kind, wrong: told === null ? null : String(told) } satisfies Report);
      if (wrong instanceof Endless) return;
    }
  } finally {
    await world.close();
  }
}

process.on("disconnect", () => process.exit());
await main(JSON.parse(process.argv[2] ?? "{}"));
process.disconnect();
