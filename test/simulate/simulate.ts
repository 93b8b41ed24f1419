/**
 * One random session from its seed: jobs, what the program does with them, and every danger; and what must hold at its
 * end. What must hold at every moment is checked by the world as it goes.
 */
import { Chance } from "./chance.ts";
import { demanding, jobOverBlocks, randomJob } from "./plans.ts";
import type { Story } from "./story.ts";
import { ALL_MEMORY, CALM, type Dangers, type RunningJob, World } from "./world.ts";

export const STORM: Dangers = {
  ...CALM,
  death: 0.03,
  deaf: 0.3,
  cancelJob: 0.2,
  pause: 0.05,
  diskFull: 0.2,
  slowDisk: 0.2,
};
export const ROT: Dangers = { ...STORM, damage: 0.3 };
export const ERRORS: Dangers = { ...CALM, death: 0.01, functionError: 0.02, deaf: 0.3, cancelJob: 0.2, pause: 0.05 };

/** How much the store holds: plenty, about a block an operator, or hardly one. */
export type StoreSize = "large" | "small" | "tiny";

export interface Outcome {
  readonly world: World;
  readonly jobs: readonly RunningJob[];
  readonly workers: number;
  /** The store holds what all the jobs need to flow, and was told the truth about it. */
  readonly fits: boolean;
}

export interface Traits {
  /** Operators ask for cores, memory and GPUs. */
  readonly demands?: boolean;
  readonly story?: Story | null;
}

export function simulate(seed: number, dangers: Dangers, store: StoreSize, traits: Traits = {}): Outcome {
  const { demands = false, story = null } = traits;
  const chance = new Chance(seed);
  const workers = chance.between(1, 4);
  const [least, most] = PAGES[store];
  const pages = chance.between(least, most);
  const world = new World(chance, workers, pages, dangers, story);
  const jobs: RunningJob[] = [];
  const count = chance.between(1, 3);
  let pagesNeeded = 1;
  for (let i = 0; i < count; i++) {
    const modest = randomJob(chance, `job${i}`, i * 1_000_000);
    const planned = demands ? demanding(chance, modest, { cpu: workers, memory: ALL_MEMORY }) : modest;
    const keeps = chance.happens(0.3);
    pagesNeeded += planned.isHonest && !planned.isDiamond ? planned.pagesNeeded : Number.POSITIVE_INFINITY;
    world.later(chance.between(0, 100), () => {
      const job = world.start(planned, true, keeps);
      jobs.push(job);
      if (chance.happens(dangers.cancelJob)) world.later(chance.between(0, 500), () => world.cancel(job));
      if (keeps) whenOver(world, job, () => readKept(world, chance, job, jobs));
    });
  }
  if (chance.happens(0.3)) {
    const kept = chance.between(1, Math.ceil(pages / 8));
    pagesNeeded += kept;
    world.keep(kept, chance.between(1, 1000));
  }
  world.run();
  world.close();
  // A task that waits for room keeps the memory that whoever would make room may need.
  return { world, jobs, workers, fits: pagesNeeded <= pages && !demands };
}

const PAGES: Readonly<Record<StoreSize, readonly [number, number]>> = {
  large: [300, 2000],
  small: [12, 60],
  tiny: [2, 14],
};

function whenOver(world: World, job: RunningJob, run: () => void): void {
  world.later(50, () => {
    if (job.outcome === "running" || job.unread > 0) whenOver(world, job, run);
    else run();
  });
}

/** Reads twice, at the same time, what the program has kept of a job; then lets it go. */
function readKept(world: World, chance: Chance, job: RunningJob, jobs: RunningJob[]): void {
  const slices = [...(job.kept ?? [])];
  const last = job.planned.spec.operators.at(-1);
  const isBlocks = last?.kind === "slice" || last?.sink.kind === "blocks";
  if (job.outcome !== "finished" || slices.length === 0 || !isBlocks) {
    world.letGo(job);
    return;
  }
  const again = [1, 2].map((n) => {
    const name = `${job.planned.spec.id}-again${n}`;
    return world.start(jobOverBlocks(chance, name, slices, job.received, job.planned.pagesPerRow), true);
  });
  jobs.push(...again);
  const [first, second] = again;
  if (first === undefined || second === undefined) return;
  whenOver(world, first, () => whenOver(world, second, () => world.letGo(job)));
}

/** Throws where the session has not ended as it must. */
export function check(outcome: Outcome, mayFail: (job: RunningJob, outcome: Outcome) => boolean): void {
  const { world, jobs, workers } = outcome;
  for (const job of jobs) {
    const { expected, spec } = job.planned;
    const name = `the job ${spec.id}`;
    if (job.outcome === "failed" && !mayFail(job, outcome)) throw new Error(`${name} failed: ${job.error}`);
    if (job.outcome === "running") throw new Error(`${name} did not end`);
    if (job.outcome !== "finished") continue;
    const last = spec.operators.at(-1);
    if (job.rows !== expected.length) throw new Error(`${name} has ${job.rows} rows instead of ${expected.length}`);
    if (last?.kind === "tasks" && last.sink.kind === "files" && !world.committed.has(spec.id)) {
      throw new Error(`${name} did not commit its files`);
    }
    if (last?.kind === "tasks" && last.sink.kind !== "blocks") continue;
    const ordered = (rows: readonly number[]) => (spec.preserveOrder ? rows : [...rows].sort((a, b) => a - b));
    if (ordered(job.received).join() !== ordered(expected).join())
      throw new Error(`${name} has other rows, or another order`);
  }
  const { ledger } = world.scheduler;
  ledger.assertConsistent();
  const left = {
    jobs: world.scheduler.jobs,
    bytes: ledger.live,
    blocks: ledger.blocks,
    files: world.disk.files.size,
    busyWorkers: world.busyWorkers,
  };
  for (const [what, count] of Object.entries(left)) if (count !== 0) throw new Error(`${count} ${what} are left`);
  if (world.liveWorkers !== workers) throw new Error(`${world.liveWorkers} workers instead of ${workers}`);
}

/** A store that is too small is named; one that is large enough never is. */
export function isStoreTooSmall(job: RunningJob, { fits }: Outcome): boolean {
  return !fits && job.error?.startsWith("StoreError") === true;
}
