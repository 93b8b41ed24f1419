/** Thousands of random sessions, each from its seed. A seed that fails is kept below as a test of its own. */
import { expect, test } from "vitest";
import { PAGE } from "../../src/store/index.ts";
import { Chance } from "./chance.ts";
import { growing, job as jobOf, randomJob, splitOf, tasks } from "./plans.ts";
import { check, ERRORS, isStoreTooSmall, type Outcome, ROT, STORM, simulate } from "./simulate.ts";
import { CALM, type RunningJob, World } from "./world.ts";

const CASES = Number(process.env.SPILLWAY_SIMULATE ?? 600);

function everySeed(run: (seed: number) => void): void {
  for (let seed = 1; seed <= CASES; seed++) {
    try {
      run(seed);
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
}

const isDamage = (job: RunningJob) => job.error === "SpillwayError: a flipped byte";
const isFullDisk = (job: RunningJob) => job.error === "SpillwayError: the disk is full";

test("[R6] with room enough every row arrives once, whatever the plan, and nothing is left", () => {
  everySeed((seed) => check(simulate(seed, CALM, "large"), () => false));
});

test("[D1] a store of one block an operator is enough for any pipeline; with a smaller one blocks go to disk and come back", () => {
  let fitting = 0;
  let spilled = 0;
  let restored = 0;
  everySeed((seed) => {
    const outcome = simulate(seed, CALM, "small");
    check(outcome, isStoreTooSmall);
    fitting += Number(outcome.fits);
    spilled += outcome.world.disk.spilled;
    restored += outcome.world.disk.restored;
  });
  expect(fitting).toBeGreaterThan(CASES * 0.05);
  expect(spilled).toBeGreaterThan(CASES);
  expect(restored).toBeGreaterThan(CASES / 2);
});

test("[O4] no store is so small that a pipeline stands still: it flows, or is told what is missing", () => {
  let failed = 0;
  let jobs = 0;
  everySeed((seed) => {
    const outcome = simulate(seed, CALM, "tiny");
    check(outcome, isStoreTooSmall);
    jobs += outcome.jobs.length;
    failed += outcome.jobs.filter((job) => job.outcome === "failed").length;
  });
  expect(failed / jobs).toBeLessThan(0.35);
});

test("[D5] workers that die, jobs that are cancelled, consumers that pause, disks that are slow or full: every row once, nothing left", () => {
  everySeed((seed) => check(simulate(seed, STORM, "large"), () => false));
  const mayFail = (job: RunningJob, outcome: Outcome) => isStoreTooSmall(job, outcome) || isFullDisk(job);
  everySeed((seed) => check(simulate(seed, STORM, "small"), mayFail));
  everySeed((seed) => check(simulate(seed, STORM, "tiny"), mayFail));
});

test("[D1] files that rot on disk: a block is made again or its job fails, and no wrong row is handed on", () => {
  let damaged = 0;
  let survived = 0;
  everySeed((seed) => {
    const outcome = simulate(seed, ROT, "small");
    check(outcome, (job) => isStoreTooSmall(job, outcome) || isFullDisk(job) || isDamage(job));
    damaged += outcome.world.disk.damaged;
    if (outcome.world.disk.damaged > 0 && outcome.jobs.every((job) => job.outcome === "finished")) survived += 1;
  });
  expect(damaged).toBeGreaterThan(CASES / 10);
  expect(survived).toBeGreaterThan(0);
});

test("[O5] operators that ask for cores, memory and GPUs: nobody has more than there is, and everything flows", () => {
  let replaced = 0;
  everySeed((seed) => {
    const outcome = simulate(seed, { ...STORM, diskFull: 0 }, "large", { demands: true });
    check(outcome, () => false);
    replaced += outcome.world.replaced;
  });
  expect(replaced).toBeGreaterThan(CASES * 0.1);
  everySeed((seed) => check(simulate(seed, CALM, "small", { demands: true }), isStoreTooSmall));
});

test("[O4] functions that multiply their data by a hundred: everything flows, within the store", () => {
  everySeed((seed) => {
    const chance = new Chance(seed);
    const workers = chance.between(1, 4);
    const planned = growing(chance, randomJob(chance, "job", 0));
    const world = new World(chance, workers, 520 + 160 * planned.spec.operators.length, CALM);
    const jobs = [world.start(planned, true)];
    world.run();
    world.close();
    check({ world, jobs, workers, fits: planned.isHonest && !planned.isDiamond }, isStoreTooSmall);
  });
});

test("[O4] a function that multiplies its data by a hundred never has more than its budget, and spills nothing", () => {
  const rows = Array.from({ length: 200 }, (_, i) => i);
  for (let seed = 1; seed <= 50; seed++) {
    const chance = new Chance(seed);
    const workers = 4;
    const capacity = 120;
    const [block, small] = [10, 1];
    const splits = rows.map((row) => splitOf([row]));
    const blocks = (pages: number) => ({ kind: "blocks", targetBytes: pages * PAGE, minBytes: false }) as const;
    const operators = [
      tasks(0, { kind: "splits", splits }, { sink: blocks(small) }),
      tasks(1, { kind: "operators", operators: [0] }, { sink: blocks(block) }),
      tasks(2, { kind: "operators", operators: [1] }, { sink: { kind: "count" }, concurrency: { min: 1, max: 1 } }),
    ];
    const world = new World(chance, workers, capacity, { ...CALM, pause: 0.2 });
    const planned = {
      spec: jobOf("job", operators),
      expected: rows,
      rowsPerBlock: new Map([[1, 1]]),
      pagesPerRow: 0.1,
      growth: new Map([[1, 100]]),
      isDiamond: false,
      isHonest: true,
      pagesNeeded: 0,
    };
    const running = world.start(planned, true);
    world.run();
    expect(running.rows).toBe(rows.length);
    expect(world.disk.spilled).toBe(0);
    // Its reservation is a quarter, the pool a half; what is being written asks for half as much again and is in it.
    const upstream = (2 * workers + 2 + 3 * workers) * small;
    const most = 0.75 * capacity + upstream;
    expect(running.stats?.peakStoreBytes).toBeLessThanOrEqual(most * PAGE);
  }
});

test("[A14] a failing function ends its job and leaves nothing", () => {
  everySeed((seed) => check(simulate(seed, ERRORS, "large"), (job) => job.error === "FunctionError: boom"));
});
