/** Which stages begin with what running out of memory has taught an earlier run, and which do not. */
import { expect, test } from "vitest";
import { Dataset } from "../../src/dataset/dataset.ts";
import { col } from "../../src/dataset/index.ts";
import { appetiteOf, learnedOf, remember } from "../../src/dataset/learned.ts";
import { filter, optimise, type Plan } from "../../src/plan/index.ts";
import type { LearnedNeed } from "../../src/protocol/index.ts";
import { buildStages } from "../../src/stages/index.ts";
import { fn, table } from "../plan/fixtures.ts";
import { InProcessEngine } from "./in-process-engine.ts";

const NEED: LearnedNeed = { batchSize: 64, atOnce: 1, alone: true, memory: 2 ** 30 };

/** What a plan begins with after a run of the other one has learned something. */
async function begins(engine: InProcessEngine, plan: Plan): Promise<LearnedNeed | null | undefined> {
  const { stages } = await buildStages(optimise(plan), false);
  return stages.flatMap((stage) => (stage.kind === "tasks" ? [learnedOf(engine, stage)] : [])).at(-1);
}

async function after(plan: Plan): Promise<InProcessEngine> {
  const engine = new InProcessEngine();
  const built = await buildStages(optimise(plan), false);
  remember(engine, built, { operators: built.stages.map(() => ({ learned: NEED, appetite: null })) });
  return engine;
}

test("[M3] the same functions begin with what worked, others and other sessions do not", async () => {
  const engine = await after(fn(table()));
  expect(await begins(engine, fn(table()))).toEqual(NEED);
  expect(await begins(engine, fn(table(), { form: "flatMap" }))).toBeNull();
  expect(await begins(new InProcessEngine(), fn(table()))).toBeNull();
});

test("[M3] explain tells what a dataset that has not run yet would begin with", async () => {
  const told = (engine: InProcessEngine) => new Dataset(engine, fn(table())).explain();
  expect(await told(new InProcessEngine())).not.toContain("memory:");
  expect(await told(await after(fn(table())))).toContain(
    "memory: batches of 64 rows, alone on the machine, as it was found before",
  );
});

test("[M3] options that say how much a function takes at once begin anew", async () => {
  const engine = await after(fn(table()));
  const options = { batchSize: 7, batchFormat: "columns", maxInFlight: 1, onError: "fail" } as const;
  expect(await begins(engine, fn(table(), { options }))).toBeNull();
  expect(await begins(engine, fn(table(), { request: { cpu: 1, gpu: 0, memory: 2 ** 31 } }))).toBeNull();
  expect(await begins(engine, fn(table(), { concurrency: { min: 1, max: 1 } }))).toBeNull();
});

test("[M3] SQL of the same operators is known by what it says", async () => {
  const engine = await after(filter(table(), col("a").gt(1).expression));
  expect(await begins(engine, filter(table(), col("a").gt(1).expression))).toEqual(NEED);
  expect(await begins(engine, filter(table(), col("a").gt(2).expression))).toBeNull();
});

test("[M11] functions begin with what their tasks took when they last ran; stages without functions have nothing to keep", async () => {
  const engine = new InProcessEngine();
  const stageOf = async (plan: Plan) => {
    const built = await buildStages(optimise(plan), false);
    const stage = built.stages.find(({ kind }) => kind === "tasks");
    if (stage?.kind !== "tasks") throw new Error("a stage with tasks");
    return { built, stage };
  };
  const { built, stage } = await stageOf(fn(table()));
  expect(appetiteOf(engine, stage)).toBeNull();
  // What a batch that had not ended showed is not kept.
  remember(engine, built, {
    operators: built.stages.map(() => ({ learned: null, appetite: { bytes: 7, from: "batch" } })),
  });
  expect(appetiteOf(engine, stage)).toBeNull();
  remember(engine, built, {
    operators: built.stages.map(() => ({ learned: null, appetite: { bytes: 7, from: "tasks" } })),
  });
  expect(appetiteOf(engine, (await stageOf(fn(table()))).stage)).toBe(7);
  expect(appetiteOf(engine, (await stageOf(fn(table(), { form: "flatMap" }))).stage)).toBeNull();
  expect(appetiteOf(engine, (await stageOf(table())).stage)).toBeNull();
});
