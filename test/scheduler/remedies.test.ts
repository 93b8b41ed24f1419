/** What is advised, with an operator's own numbers. */
import { expect, test } from "vitest";
import type { Step } from "../../src/protocol/index.ts";
import { NO_NEED } from "../../src/scheduler/needs/need.ts";
import { remedies } from "../../src/scheduler/oom/remedies.ts";
import type { Shortage } from "../../src/scheduler/state/index.ts";
import { PAYLOAD, tasks } from "../simulate/plans.ts";
import { splits } from "./scripted-session.ts";

const GIB = 2 ** 30;

function step(form: Extract<Step, { kind: "function" }>["form"], batchSize = 1, maxInFlight = 1): Step {
  const options = { batchSize, batchFormat: "rows", maxInFlight, onError: "fail" } as const;
  const payload = { id: PAYLOAD, length: 1, rows: 0 };
  return { kind: "function", operator: `${form}(fn)`, form, isClass: false, payload, options };
}

const SHORTAGE: Shortage = {
  cause: "monitor",
  need: NO_NEED,
  batchSize: null,
  isFixed: false,
  atOnce: 15,
  memory: 1.2 * GIB,
  limit: 1.5 * GIB,
  room: 16 * GIB,
  foreign: null,
  kernel: null,
};

function advised(
  steps: readonly Step[],
  shortages: readonly Shortage[],
  isWide = false,
  allowed = 24 * GIB,
  took = 0,
): readonly string[] {
  const operator = tasks(0, splits(1), { steps });
  return remedies({
    operator,
    shortages,
    workers: 15,
    workerMemory: 1.5 * GIB,
    total: 24 * GIB,
    allowed,
    isWide,
    took,
  });
}

test("[D9] tasks that fit one by one: fewer of them, with the figures of these", () => {
  expect(advised([step("map")], [SHORTAGE])).toEqual([
    "numCpus: 2 on map(fn): 18.0 GiB over 15 running tasks is 1.2 GiB each; numCpus: 2 halves both.",
    'memory: "1.5 GiB" on map(fn): a task then starts only where so much is free, in a worker that has it.',
    "concurrency: 13 on map(fn): 16.0 GiB hold 13 of 1.2 GiB.",
    "session({ workers: 13 }) instead of 15: idle ones keep memory, too.",
    "A machine or control group with more memory than 24.0 GiB.",
  ]);
});

test("[D9] a batch that did not fit, and half of it either: a smaller one comes first", () => {
  const halved = { ...SHORTAGE, batchSize: 512, need: { ...NO_NEED, batchSize: 512 } };
  expect(advised([step("mapBatches", 1024)], [{ ...SHORTAGE, batchSize: 1024 }, halved])[0]).toBe(
    "batchSize: 128 on mapBatches(fn), which has 1024; 512 did not fit either.",
  );
});

test("[D9] a task that has fewer rows than a batch: the advice counts from its rows", () => {
  expect(advised([step("mapBatches", 1024)], [{ ...SHORTAGE, batchSize: 200 }])[0]).toBe(
    "batchSize: 50 on mapBatches(fn), which has 1024; the 200 rows of a task did not fit.",
  );
});

test("[D9] what was tried is not advised: alone, with a batch of one row, only less data or more memory is left", () => {
  const alone = { batchSize: 1, atOnce: 1, alone: true, memory: 14 * GIB };
  const last: Shortage = { ...SHORTAGE, cause: "heap", need: alone, batchSize: 1, atOnce: 1, memory: 14 * GIB };
  expect(advised([step("mapBatches", 1024)], [SHORTAGE, last])).toEqual([
    "A machine or control group with more memory than 24.0 GiB: 16.0 GiB of it were the task's alone.",
  ]);
});

test("[D9] where the session's own limit is the bound, a larger machine would not help", () => {
  const room = 4 * GIB;
  const alone = { batchSize: 1, atOnce: 1, alone: true, memory: 14 * GIB };
  const last: Shortage = { ...SHORTAGE, need: alone, atOnce: 1, room };
  expect(advised([step("map")], [last], false, room)).toEqual([
    "session({ resourceLimits: { memory } }) of more than 4.0 GiB: there are 24.0 GiB.",
  ]);
  // It is not what bounds.
  expect(advised([step("map")], [last], false, 8 * GIB)).toEqual([
    "A machine or control group with more memory than 24.0 GiB: 4.0 GiB of it were the task's alone.",
  ]);
});

test("[D9] functions that make much of little, and groups that come as a whole", () => {
  const last = { ...SHORTAGE, atOnce: 1, memory: null };
  expect(advised([step("flatMap"), step("mapGroups", 1024)], [last])).toEqual([
    "Return less for each row from flatMap(fn), or yield the rows from a generator: they are taken one by one.",
    "stream: true on mapGroups(fn): a group then comes in batches of 1024 rows instead of as a whole.",
    "A machine or control group with more memory than 24.0 GiB.",
  ]);
});

test("[D9] a worker that was full itself: more for it, for the function or for all workers", () => {
  const last: Shortage = { ...SHORTAGE, cause: "heap", atOnce: 1 };
  expect(advised([step("map")], [last])).toEqual([
    'memory: "3 GiB" on map(fn): a task then starts only where so much is free, in a worker that has it.',
    'session({ memoryLimit: "3 GiB" }) instead of 1.5 GiB for each worker.',
    "A machine or control group with more memory than 24.0 GiB.",
  ]);
});

test("[D9] the kernel: less that meets at once", () => {
  const last: Shortage = { ...SHORTAGE, cause: "engineMemory", limit: Number.POSITIVE_INFINITY };
  expect(advised([], [last], true)).toEqual([
    "Let less meet at once: fewer columns, rows filtered before, shorter lists and strings.",
    "A machine or control group with more memory than 24.0 GiB.",
  ]);
});

test("[D9] calls that are under way at once: fewer, where there is an async function and that was not tried", () => {
  const one = "maxInFlight: 8 on map(fn), which has up to 32 calls under way at once.";
  expect(advised([step("map", 1, 32)], [SHORTAGE])[0]).toBe(one);
  expect(advised([step("map", 1, 16)], [SHORTAGE])).not.toContainEqual(expect.stringContaining("maxInFlight"));
  const alone = { ...SHORTAGE, need: { ...NO_NEED, alone: true } };
  expect(advised([step("map", 1, 32)], [alone])).toEqual([
    "A machine or control group with more memory than 24.0 GiB: 16.0 GiB of it were the task's alone.",
  ]);
});

test("[D9] what was seen to be more than the task's share is not said to be less", () => {
  const alone = { ...SHORTAGE, need: { ...NO_NEED, alone: true }, memory: 20 * GIB };
  expect(advised([step("map")], [alone])).toEqual(["A machine or control group with more memory than 24.0 GiB."]);
});

test("[D9] what tasks took that have ended is part of the advice, and counts if it is more", () => {
  const low = { ...SHORTAGE, memory: 0.5 * GIB };
  const found = advised([step("map")], [low], false, 24 * GIB, 1.2 * GIB);
  expect(found[0]).toContain("18.0 GiB over 15 running tasks is 1.2 GiB each");
  expect(found[1]).toBe(
    'memory: "1.5 GiB" on map(fn): a task then starts only where so much is free, in a worker that has it ' +
      "(those that ended took up to 1.2 GiB).",
  );
});
