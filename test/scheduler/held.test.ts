/** Whatever keeps a task from starting has a name. */
import { expect, test } from "vitest";
import { job, tasks } from "../simulate/plans.ts";
import { MEMORY } from "../support/memory-settings.ts";
import { batched, COUNT, Oom, POOL } from "./starved.ts";
import { MIB, splits, Table } from "./table.ts";

/** The policy that holds the first operator of a job back. */
function holder({ scheduler }: Table, name: string): string | null | undefined {
  return scheduler.standing().jobs.get(name)?.operators[0]?.heldBy;
}

test("[O4] memory that another task has: the resource budget, for as long as it lasts", () => {
  const table = new Table(2, 8, { resources: { cpu: 2, gpu: 0, memory: 100 } });
  const request = { cpu: 1, gpu: 0, memory: 80 };
  table.start(job("j", [tasks(0, splits(2), { sink: COUNT, request })]), 1);
  expect(holder(table, "j")).toBe("ResourceBudgetBackpressurePolicy");
  table.now += 1_000;
  table.done(1);
  expect(holder(table, "j")).toBe(null);
  table.done(1);
  expect(table.wasTold("finished")[0]?.stats.operators[0]?.heldBack).toEqual({ ResourceBudgetBackpressurePolicy: 1 });
});

test("[M3] a task that is to compute alone waits for others, and others wait for it", () => {
  const table = new Oom(2, 8, { pool: POOL, workerMemory: 256 * MIB });
  table.put();
  const learned = { batchSize: 4, atOnce: 1, alone: true, memory: null };
  table.start(job("first", [tasks(0, splits(1), { sink: COUNT })]), 1);
  table.start(job("alone", [tasks(0, splits(1), { sink: COUNT, learned, steps: batched(1024) })]), 1);
  table.start(job("third", [tasks(0, splits(1), { sink: COUNT })]), 1);
  expect(holder(table, "first")).toBe(null);
  expect(holder(table, "alone")).toBe("AloneBackpressurePolicy");
  expect(holder(table, "third")).toBe("AloneBackpressurePolicy");
});

test("[K7] replacements of workers that are held back, and a task that rests", () => {
  const table = new Table(1, 4);
  table.tell({ type: "open" });
  table.start(job("a", [tasks(0, splits(1), { sink: COUNT })]), 1);
  table.start(job("b", [tasks(0, splits(1), { sink: COUNT })]), 1);
  expect(holder(table, "b")).toBe(null);
  table.dies(1, { signal: "SIGKILL", cause: "monitor" });
  expect(holder(table, "a")).toBe("MemoryRetryBackpressurePolicy");
  expect(holder(table, "b")).toBe("WorkerRestartBackpressurePolicy");
  table.now += 1_000;
  table.tell({ type: "tick" });
  expect([holder(table, "a"), holder(table, "b")]).toEqual([null, null]);
});

test("[K6] workers without a task that are paused", () => {
  const table = new Oom(1, 8, { workerMemory: 100 * MIB, memory: MEMORY });
  table.reads({ 1: 85 * MIB });
  table.start(job("j", [tasks(0, splits(1), { sink: COUNT })]), 1);
  expect(holder(table, "j")).toBe("WorkerPauseBackpressurePolicy");
});
