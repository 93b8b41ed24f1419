/** Thousands of random sessions, each from its seed. A seed that fails is kept below as a test of its own. */
import { expect, test } from "vitest";
import { check, ERRORS, isStoreTooSmall, type Outcome, ROT, STORM, simulate } from "./simulate.ts";
import { CALM, type RunningJob } from "./world.ts";

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
  expect(failed / jobs).toBeLessThan(0.25);
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

test("[A14] a failing function ends its job and leaves nothing", () => {
  everySeed((seed) => check(simulate(seed, ERRORS, "large"), (job) => job.error === "FunctionError: boom"));
});
