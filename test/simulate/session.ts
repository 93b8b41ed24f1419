/**
 * A random session as data: which jobs, when they start, what the program does with each, how large the store is. Drawn
 * from a seed before anything runs, so that a session that fails can be made smaller piece by piece (shrink.ts).
 */

import { PAGE } from "../../src/store/index.ts";
import { Chance } from "./chance.ts";
import { gathering } from "./gathering.ts";
import type { Kind } from "./kinds.ts";
import { ALL_MEMORY, type Broken, type Dangers, type MemoryMeans, MOST_EXTRA } from "./means.ts";
import { dawdling, demanding, growing, type PlannedJob, randomJob } from "./plans.ts";
import { withOtherWays } from "./ways.ts";

const MIB = 2 ** 20;

/** How much the store holds: plenty, about a block an operator, or hardly one. */
export type StoreSize = "large" | "small" | "tiny";

export const STORES: Readonly<Record<StoreSize, readonly [number, number]>> = {
  large: [300, 2000],
  small: [12, 60],
  tiny: [2, 14],
};

/** More than there are ever tasks that could run at once. */
const MANY_WORKERS = 100;

export interface PlannedStart {
  readonly planned: PlannedJob;
  readonly at: number;
  /** The program keeps the result and reads it twice afterwards. */
  readonly keeps: boolean;
  readonly cancelledAfter: number | null;
  /** The program never asks again, nor gives anything back, once it has so many blocks. */
  readonly abandonedAfter: number | null;
}

export interface Session {
  /** Of delays and dangers while it runs. */
  readonly seed: number;
  readonly workers: number;
  /** How many more there may be for a while. */
  readonly extraWorkers: number;
  readonly pages: number;
  readonly managedTarget: number | null;
  readonly memory: MemoryMeans | null;
  readonly broken: Broken | null;
  readonly dangers: Dangers;
  readonly starts: readonly PlannedStart[];
  /** A block that the program puts there, and keeps for a while. */
  readonly kept: { readonly pages: number; readonly duration: number } | null;
  readonly demands: boolean;
  /** When the program asks for the memory of all processes. */
  readonly asksAt: readonly number[];
}

export function drawSession(seed: number, kind: Kind, store: StoreSize): Session {
  const chance = new Chance(seed);
  const workers = chance.between(1, 4);
  const pages = chance.between(...STORES[store]) * (kind.grows ? 10 : 1);
  const count = chance.between(1, 3) + (kind.dawdles > 0 ? 1 : 0);
  const starts = Array.from({ length: count }, (_, i) => drawStart(chance, kind, i, workers));
  // Who takes minutes has a worker to itself.
  const slow = starts.filter(({ planned }) => planned.slow !== undefined).length;
  const beside = slow === 0 || chance.happens(0.3) ? slow : MANY_WORKERS;
  const managedTarget = kind.hasTarget ? chance.between(1, Math.ceil(pages / workers)) * PAGE : null;
  const kept = chance.happens(kind.isLean ? 0 : 0.3)
    ? { pages: chance.between(1, Math.ceil(pages / 8)), duration: chance.between(1, 1000) }
    : null;
  const memory = kind.hasPressure ? drawMemory(chance, workers, pages, kind) : null;
  const broken = kind.breaks ? drawBroken(chance) : null;
  const { dangers, demands } = kind;
  const asksAt = kind.asks ? drawAsking(chance) : [];
  const extraWorkers = kind.breaks ? 0 : kind.dawdles > 0 ? chance.oneOf([0, 1, MOST_EXTRA]) : MOST_EXTRA;
  return {
    seed,
    workers: workers + beside,
    extraWorkers,
    pages,
    managedTarget,
    memory,
    broken,
    dangers,
    starts,
    kept,
    demands,
    asksAt,
  };
}

/** From a moment to nearly a minute, from the beginning or later. */
function drawBroken(chance: Chance): Broken {
  const from = chance.oneOf([0, chance.between(1, 300)]);
  return { from, to: from + chance.oneOf([chance.between(1, 300), chance.between(300, 5_000), 50_000]) };
}

/** While the first workers start, and later. */
function drawAsking(chance: Chance): readonly number[] {
  return Array.from({ length: chance.between(1, 4) }, () => chance.between(0, chance.oneOf([50, 5_000, 100_000])));
}

function drawMemory(chance: Chance, workers: number, pages: number, { needs, isShared }: Kind): MemoryMeans {
  const limit = chance.between(200, 1000) * MIB;
  if (needs === "truth") return drawTold(chance, workers, pages, limit);
  const few = chance.between(10, 16) / 10;
  return {
    limit,
    // From little more than one worker may have to more than all may have together.
    node: Math.floor(limit * (1.1 + chance.next() * 0.7 * workers)),
    base: 40 * MIB,
    appetites: chance.oneOf([
      [0.3, 0.6, few],
      [0.5, 0.9, few],
      [0.9, 1.2, 2],
    ] as const),
    leak: chance.oneOf([0, 0, 0.2, 0.9]),
    needs,
    isShared,
    shares: isShared ? drawParts(chance, 0.2) : [],
    program: isShared ? drawParts(chance, 0) : [],
    rebalances: Array.from({ length: chance.between(0, 3) }, () => chance.between(0, 2000)),
  };
}

const ALONE = { isShared: false, shares: [], program: [] } as const;

/** The node holds a task of each operator, one by one, beside all the workers and a full store. Often no two. */
function drawTold(chance: Chance, workers: number, pages: number, limit: number): MemoryMeans {
  const base = 40 * MIB;
  const share = chance.between(2, 6) / 10;
  const fixed = (workers + MOST_EXTRA) * base + pages * PAGE;
  const node = Math.ceil(((fixed + share * limit) / 0.9) * (1 + chance.oneOf([0, 0, 0.3, 1])));
  return {
    limit: limit + base,
    node,
    base,
    appetites: [share, share, share],
    leak: 0,
    needs: "truth",
    ...ALONE,
    rebalances: [],
  };
}

/** At random moments another part; in the end all for this session, and nothing for the program. */
function drawParts(chance: Chance, least: number): readonly (readonly [at: number, part: number])[] {
  const moments = Array.from({ length: chance.between(0, 6) }, () => chance.between(0, 3_000)).sort((a, b) => a - b);
  return moments.map((at, i) => [
    at,
    i === moments.length - 1 ? Number(least > 0) : least + (1 - least) * chance.next(),
  ]);
}

function drawStart(chance: Chance, kind: Kind, i: number, workers: number): PlannedStart {
  const plain = randomJob(chance, `job${i}`, i * 1_000_000);
  const grown = kind.grows ? growing(chance, plain) : kind.gathers ? gathering(chance, plain, kind.dawdles > 0) : plain;
  const slowed = kind.dawdles > 0 && chance.happens(kind.dawdles) ? dawdling(chance, grown) : grown;
  const wayed = kind.dangers.wideFails > 0 ? withOtherWays(chance, slowed) : slowed;
  const planned = kind.demands ? demanding(chance, slowed, { cpu: workers, memory: ALL_MEMORY }) : wayed;
  const isAbandoned = chance.happens(kind.abandons);
  return {
    planned,
    at: chance.between(0, 100),
    keeps: !kind.isLean && !isAbandoned && chance.happens(0.3),
    cancelledAfter: chance.happens(kind.dangers.cancelJob) ? chance.between(0, 500) : null,
    abandonedAfter: isAbandoned ? chance.between(0, 6) : null,
  };
}

/** The store holds what all the jobs need to flow, and was told the truth about it. */
export function fits({ starts, kept, pages, demands }: Session): boolean {
  // A task that waits for room keeps the memory that whoever would make room may need.
  if (demands) return false;
  let needed = 1 + (kept?.pages ?? 0);
  for (const { planned } of starts) {
    needed += planned.isHonest && !planned.isDiamond ? planned.pagesNeeded : Number.POSITIVE_INFINITY;
  }
  return needed <= pages;
}
