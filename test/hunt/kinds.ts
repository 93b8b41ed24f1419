/** What is hunted: for each kind, how a case is drawn and how it is played. */
import fc from "fast-check";
import { chains, playChain } from "./chains.ts";
import { files, playFiles } from "./files.ts";
import { largeTexts, playLargeTexts } from "./large-texts.ts";
import { playTexts, texts } from "./texts.ts";
import type { World } from "./world.ts";

/** A case that takes longer does not end. */
const CASE_TIMEOUT_MS = 120_000;
/** How long a case that differs is made smaller. */
const SHRINK_MS = 20_000;

/** The session of such a case still works, or waits: nothing else can be played in the process. */
export class Endless extends Error {
  constructor() {
    super(`no answer after ${CASE_TIMEOUT_MS / 1000} s`);
  }
}

interface Kind {
  wrong(world: World, seed: number): Promise<unknown>;
}

function kind<T>(drawn: fc.Arbitrary<T>, play: (world: World, drawn: T) => Promise<void>): Kind {
  return {
    async wrong(world, seed) {
      let failure: unknown = null;
      let until = Number.POSITIVE_INFINITY;
      const property = fc.asyncProperty(drawn, async (one) => {
        if (failure instanceof Endless || performance.now() > until) return;
        try {
          await ended(play(world, one));
        } catch (error) {
          failure = error;
          until = Math.min(until, performance.now() + SHRINK_MS);
          throw error;
        } finally {
          world.clear();
        }
      });
      await fc.check(property, { seed, numRuns: 1 });
      return failure;
    },
  };
}

/** Rejects where it takes too long. */
async function ended(playing: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Endless()), CASE_TIMEOUT_MS);
  });
  await Promise.race([playing, late]).finally(() => clearTimeout(timer));
}

export const KINDS: Readonly<Record<string, Kind>> = {
  chains: kind(chains, playChain),
  files: kind(files, playFiles),
  texts: kind(texts, playTexts),
  largeTexts: kind(largeTexts, playLargeTexts),
};
