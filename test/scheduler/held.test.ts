/** Whatever keeps a task from starting has a name. */
import { expect, test } from "vitest";
import { job, tasks } from "../simulate/plans.ts";
import { MEMORY } from "../support/memory-settings.ts";
import { MIB, ScriptedSession, splits } from "./scripted-session.ts";
import { batched, COUNT, Oom, POOL } from "./starved.ts";

/** The policy that holds the first operator of a job back. */
function holder({ scheduler }: ScriptedSession, name: string): string | null | undefined {
  return scheduler.standing().jobs.get(name)?.operators[0]?.heldBy;
}

test("[O4] memory that another task has: the resource budget, for as long as it lasts", () => {
  const session = new ScriptedSession(2, 8, { resources: { cpu: 2, gpu: 0, memory: 100 } });
  const request = { cpu: 1, gpu: 0, memory: 80 };
  session.start(job("j", [tasks(0, splits(2), { sink: COUNT, request })]), 1);
  expect(holder(session, "j")).toBe("ResourceBudgetBackpressurePolicy");
  session.now += 1_000;
  session.done(1);
  expect(holder(session, "j")).toBe(null);
  session.done(1);
  expect(session.wasTold("finished")[0]?.stats.operators[0]?.heldBack).toEqual({ ResourceBudgetBackpressurePolicy: 1 });
});

test("[M3] a task that is to compute alone waits for others, and others wait for it", () => {
  const session = new Oom(2, 8, { pool: POOL, workerMemory: 256 * MIB });
  session.put();
  const learned = { batchSize: 4, atOnce: 1, alone: true, memory: null };
  session.start(job("first", [tasks(0, splits(1), { sink: COUNT })]), 1);
  session.start(job("alone", [tasks(0, splits(1), { sink: COUNT, learned, steps: batched(1024) })]), 1);
  session.start(job("third", [tasks(0, splits(1), { sink: COUNT })]), 1);
  expect(holder(session, "first")).toBe(null);
  expect(holder(session, "alone")).toBe("AloneBackpressurePolicy");
  expect(holder(session, "third")).toBe("AloneBackpressurePolicy");
});

test("[K7] replacements of workers that are held back, and a task that rests", () => {
  const session = new ScriptedSession(1, 4);
  session.tell({ type: "open" });
  session.start(job("a", [tasks(0, splits(1), { sink: COUNT })]), 1);
  session.start(job("b", [tasks(0, splits(1), { sink: COUNT })]), 1);
  expect(holder(session, "b")).toBe(null);
  session.dies(1, { signal: "SIGKILL", cause: "monitor" });
  expect(holder(session, "a")).toBe("MemoryRetryBackpressurePolicy");
  expect(holder(session, "b")).toBe("WorkerRestartBackpressurePolicy");
  session.now += 1_000;
  session.tell({ type: "tick" });
  expect([holder(session, "a"), holder(session, "b")]).toEqual([null, null]);
});

test("[K6] workers without a task that are paused", () => {
  const session = new Oom(1, 8, { workerMemory: 100 * MIB, memory: MEMORY });
  session.reads({ 1: 85 * MIB });
  session.start(job("j", [tasks(0, splits(1), { sink: COUNT })]), 1);
  expect(holder(session, "j")).toBe("WorkerPauseBackpressurePolicy");
});
