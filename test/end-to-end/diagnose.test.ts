/** What diagnose() says of real runs. */
import { join } from "node:path";
import { col } from "spillway";
import { expect, test } from "vitest";
import { diagnoseStats } from "../../src/diagnose/index.ts";
import { jobStats, readSession } from "../../src/events/index.ts";
import { sessionNames, testSessions } from "../support/sessions.ts";

const sessions = testSessions("diagnose");

test("[O10] a dataset that has not run, and a run in which nothing stands out", async () => {
  const s = sessions.open({});
  const ds = s.range(1_000).where(col("id").lt(10));
  expect(String(ds.diagnose())).toBe("This dataset has not run yet.");
  expect(ds.diagnose().findings).toEqual([]);
  await ds.takeAll();
  expect(String(ds.diagnose())).toBe("No findings: nothing in this run stands out.");
  await s.close();
});

test("[O10] a function whose concurrency is small, and the same words from the events of the finished session", async () => {
  const before = new Set(sessionNames(sessions.stateDirectory));
  const s = sessions.open({ workers: 2 });
  const slow = async (batch: { id: Float64Array }) => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    return batch;
  };
  const ds = s.range(8_000, { overrideNumBlocks: 8 }).mapBatches(slow, { batchSize: 1000, concurrency: 1 });
  await ds.count();
  const { findings } = ds.diagnose();
  const held = findings.find(({ kind }) => kind === "backpressure");
  expect(held).toMatchObject({ severity: "warning", operator: 1 });
  expect(held?.text).toMatch(
    /in backpressure for \d.*: .* by its own concurrency \(ConcurrencyCapBackpressurePolicy\)/,
  );
  expect(findings.find(({ kind }) => kind === "function")?.text).toMatch(/^mapBatches\(slow\) took .* it waits/);
  expect(String(ds.diagnose())).toMatch(/^Warning: .*\n {2}1\. Give the slower function more concurrency/);
  expect(String(ds.stats())).toContain("Time in backpressure");
  await s.close();
  const [name = ""] = sessionNames(sessions.stateDirectory).filter((one) => !before.has(one));
  const { state } = readSession(join(sessions.stateDirectory, name));
  const [job] = [...state.jobs.values()];
  const read = job === undefined ? [] : diagnoseStats(jobStats(state, job));
  expect(read.map(({ kind, remedies }) => ({ kind, remedies }))).toEqual(
    findings.map(({ kind, remedies }) => ({ kind, remedies })),
  );
});

test("[O10] the function whose tasks take most of a worker's memory, also from the events of the finished session", async () => {
  const before = new Set(sessionNames(sessions.stateDirectory));
  const s = sessions.open({ workers: 1, memoryLimit: "512 MiB" });
  const ds = s.range(2, { overrideNumBlocks: 2 }).mapBatches(
    async function hoarding(batch: { id: Float64Array }) {
      const held = Buffer.alloc(280 * 2 ** 20, 1);
      await new Promise((resolve) => setTimeout(resolve, 50));
      return { id: batch.id.map((id) => id + held.length) };
    },
    { batchSize: 64 },
  );
  await ds.count();
  const { findings } = ds.diagnose();
  const memory = findings.find(({ kind }) => kind === "memory");
  expect(memory?.text).toMatch(/^range->mapBatches\(hoarding\) needs the most memory: .* of its 512 MiB/);
  expect(memory?.remedies[0]).toContain("batchSize (64 now, for example 16)");
  expect(ds.stats().operators[memory?.operator ?? -1]?.addedMemory).toBeGreaterThan(256 * 2 ** 20);
  await s.close();
  const [name = ""] = sessionNames(sessions.stateDirectory).filter((one) => !before.has(one));
  const { state } = readSession(join(sessions.stateDirectory, name));
  const read = [...state.jobs.values()].flatMap((job) => diagnoseStats(jobStats(state, job)));
  expect(read.filter(({ kind }) => kind === "memory")).toEqual([memory]);
});

test("[O10] a filter function over Parquet that an expression could replace, but not the expression", async () => {
  const s = sessions.open({});
  const path = join(sessions.directory, "days");
  await s
    .range(60_000)
    .map((row) => ({ id: row.id, day: row.id % 365 }))
    .writeParquet(path);
  const days = s.readParquet<{ id: number; day: number }>(path);
  const isFirst = (row: { day: number }) => row.day === 0;
  const byFunction = days.filter(isFirst);
  await byFunction.takeAll();
  const [finding] = byFunction.diagnose().findings.filter(({ kind }) => kind === "filter");
  expect(finding?.text).toBe(
    "filter(isFirst) is a function: readParquet->filter(isFirst) read 60,000 rows for it, and 165 were left.",
  );
  const byExpression = days.filter(col("day").eq(0));
  await byExpression.takeAll();
  expect(byExpression.diagnose().findings).toEqual([]);
  await s.close();
});

test("[O10] one task that everything waits for; and a pipeline's windows together", async () => {
  const s = sessions.open({});
  const slowly = (row: { id: number }) => {
    const end = performance.now() + 0.5;
    while (performance.now() < end);
    return row;
  };
  const one = s.range(3_000, { overrideNumBlocks: 1 }).map(slowly);
  await one.count();
  const [finding] = one.diagnose().findings.filter(({ kind }) => kind === "oneTask");
  expect(finding?.text).toMatch(/^range->map\(slowly\) was one task of .*, while 1 of 2 workers could not help it\.$/);
  expect(finding?.remedies[0]).toBe("Read in more parts: overrideNumBlocks: 8.");
  const pipeline = s.range(2_000, { overrideNumBlocks: 4 }).window({ bytes: 4_000 }).map(slowly);
  expect(String(pipeline.diagnose())).toBe("This dataset has not run yet.");
  await pipeline.count();
  expect(Array.isArray(pipeline.diagnose().findings)).toBe(true);
  await s.close();
});
