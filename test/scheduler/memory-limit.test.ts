/** The memory limit of workers changes while they work, and the report says where the memory is. */

import { expect, test } from "vitest";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { settings } from "../support/memory-settings.ts";
import { blocksOf, LIMIT, ScriptedSession, splits, stepsOf, working } from "./pressed.ts";

const set = (session: ScriptedSession, limit: number | null, heap = limit) =>
  session.program({ type: "setMemoryLimit", isAutomatic: false, request: 5, limit, heap });

test("[K1] a new limit moves every threshold at once, also that of managed memory, and is answered", () => {
  const session = working(1, 30);
  session.reads({ 1: 30 * PAGE });
  expect(stepsOf(session)).toEqual([]);
  set(session, 80 * PAGE);
  expect([stepsOf(session), session.happened("memoryLimit")]).toMatchObject([
    ["normal ▸ spilling"],
    [{ limit: 80 * PAGE }],
  ]);
  // 60 of 80: below 48 when 13 have left.
  expect(session.spilled).toHaveLength(13);
  expect(session.wasTold("limitSet")).toEqual([{ type: "limitSet", request: 5 }]);
  session.diskWrites();
  set(session, null);
  expect(stepsOf(session).at(-1)).toBe("spilling ▸ normal");
  session.reads({ 1: 500 * PAGE });
  expect(stepsOf(session).at(-1)).toBe("spilling ▸ normal");
});

test("[K1] [K3] the target of managed memory follows the limit", () => {
  const session = working(1, 50, settings({ spill: false }));
  expect(session.spilled).toEqual([]);
  set(session, 80 * PAGE);
  // More than 48.
  expect(session.spilled).toHaveLength(2);
});

test("[K1] workers are replaced one after another: idle ones first, a running one after its task", () => {
  const session = new ScriptedSession(3, 400, { memory: settings(), workerMemory: LIMIT });
  session.put();
  session.start(job("j", [tasks(0, splits(1), { sink: blocksOf(1) })]), 1);
  const dismissed = () => session.commands.flatMap((one) => (one.type === "dismiss" ? [one.worker] : []));
  expect(session.tasksOf(1)).toHaveLength(1);
  set(session, 2 * LIMIT);
  expect(dismissed()).toEqual([2]);
  session.dies(2);
  session.tell({ type: "workerStarting", worker: 4 as never });
  expect(dismissed().length).toBeLessThanOrEqual(2);
  session.tell({ type: "workerReady", worker: 4 as never, pid: 1004 });
  expect(dismissed()).toEqual([2, 3]);
  session.dies(3);
  session.up(5);
  expect(dismissed()).toEqual([2, 3]);
  session.done(1);
  expect(dismissed()).toEqual([2, 3, 1]);
  session.dies(1);
  session.up(6);
  expect(dismissed()).toEqual([2, 3, 1]);
});

test("[K1] the limit that it has already replaces nobody; back to the old one neither those that were not replaced yet", () => {
  const session = working(2, 0);
  set(session, LIMIT);
  session.done(1);
  session.done(2);
  set(session, 2 * LIMIT);
  set(session, LIMIT);
  session.done(1);
  expect(session.ordered("dismiss")).toBe(0);
});

test("[K1] a raised worker keeps its own limit as long as that is the larger one", () => {
  const session = new ScriptedSession(1, 400, { memory: settings(), workerMemory: LIMIT });
  session.put();
  const request = { cpu: 1, gpu: 0, memory: 3 * LIMIT };
  session.start(job("j", [tasks(0, splits(4), { sink: blocksOf(1), request })]), 1);
  session.dies(1);
  session.up(2, { memory: 3 * LIMIT });
  set(session, 2 * LIMIT);
  session.reads({ 2: 200 * PAGE });
  expect(stepsOf(session)).toEqual([]);
  session.reads({ 2: 210 * PAGE + 1 });
  expect(stepsOf(session)).toEqual(["normal ▸ spilling"]);
});

test("[K9] [K10] the report tells kinds, limit, step and colour of every worker, the wide kernel too, and the store's part on disk", () => {
  const session = working(3, 20);
  session.up(9, { isWide: true });
  session.says(1, { type: "kernel", memory: 2 * PAGE, spilled: 0 });
  session.reads({ 1: 55 * PAGE, 2: 81 * PAGE, 3: PAGE, 9: 300 * PAGE });
  session.diskWrites();
  session.tell({ type: "nodeMemory", used: 10, total: 100 });
  const privates = { 1: 55 * PAGE, 2: 81 * PAGE, 3: PAGE, 9: 300 * PAGE };
  session.reads(privates);
  session.program({ type: "memory", request: 8 });
  const report = session.wasTold("memory").at(-1)?.memory;
  const blocks = 4 * PAGE;
  expect(report?.workers).toEqual([
    {
      id: 1,
      pid: 1001,
      kind: "worker",
      limit: LIMIT,
      process: 55 * PAGE + blocks,
      managed: blocks + 2 * PAGE,
      unmanaged: 0,
      recent: 53 * PAGE,
      spilled: 16 * PAGE,
      pressure: "normal",
      colour: "blue",
      task: "op0",
    },
    expect.objectContaining({ id: 2, pressure: "paused", colour: "red", limit: LIMIT, spilled: 0 }),
    expect.objectContaining({ id: 3, pressure: "normal", colour: "blue" }),
    expect.objectContaining({ id: 9, kind: "wide", pressure: "normal", limit: null, process: 300 * PAGE, task: null }),
  ]);
  expect(report).toMatchObject({
    node: { used: 10, total: 100, threshold: null },
    store: { capacity: 400 * PAGE, resident: blocks + PAGE, spilled: 16 * PAGE },
  });
  session.reads({ 3: 61 * PAGE });
  session.program({ type: "memory", request: 9 });
  expect(session.wasTold("memory").at(-1)?.memory.workers[2]).toMatchObject({ pressure: "normal", colour: "orange" });
  session.reads({ 3: 71 * PAGE });
  session.program({ type: "memory", request: 10 });
  expect(session.wasTold("memory").at(-1)?.memory.workers[2]).toMatchObject({ pressure: "spilling", colour: "orange" });
});

test("[K9] what a worker has on disk counts for it until its last reference goes, and for nobody who lives after its end", () => {
  const session = working(1, 20);
  const made = session.wasTold("output").map(({ slice }) => slice.block.id);
  const { ledger } = session.scheduler;
  session.reads({ 1: 55 * PAGE });
  session.diskWrites();
  expect([ledger.spilled(1 as never), ledger.spilledBytes]).toEqual([16 * PAGE, 16 * PAGE]);
  session.program({ type: "release", blocks: made.slice(0, 6) });
  expect([ledger.spilled(1 as never), ledger.spilledBytes]).toEqual([10 * PAGE, 10 * PAGE]);
  session.dies(1);
  expect([ledger.spilled(1 as never), ledger.spilled(null), ledger.spilledBytes]).toEqual([0, 10 * PAGE, 10 * PAGE]);
  ledger.assertConsistent();
});
