/** What tasks ask for, and what holds them back: cores, memory, GPUs, budgets of the store. */
import { expect, test } from "vitest";
import type { JobId } from "../../src/protocol/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { blocksOf, from, ScriptedSession, splits } from "./scripted-session.ts";

const busy = (session: ScriptedSession, workers: readonly number[]) =>
  workers.filter((worker) => session.tasksOf(worker).length > 0);

test("[O5] tasks of two cores run one at a time on two, tasks of half a core fill the workers", () => {
  const count = { kind: "count" } as const;
  const session = new ScriptedSession(2, 100);
  session.start(job("j", [tasks(0, splits(3), { sink: count, request: { cpu: 2, gpu: 0, memory: 0 } })]));
  expect(busy(session, [1, 2])).toEqual([1]);
  session.done(1);
  expect(busy(session, [1, 2])).toEqual([1]);
  session.dies(1);
  expect(busy(session, [1, 2])).toEqual([1, 2]);

  for (const cpu of [0, 0.3]) {
    const small = new ScriptedSession(3, 100, { resources: { cpu: 1, gpu: 0, memory: 0 } });
    small.start(job("j", [tasks(0, splits(9), { sink: count, request: { cpu, gpu: 0, memory: 0 } })]));
    expect(busy(small, [1, 2, 3])).toEqual([1, 2, 3]);
  }
  const one = new ScriptedSession(3, 100, { resources: { cpu: 1.5, gpu: 0, memory: 0 } });
  one.start(job("j", [tasks(0, splits(9), { sink: count })]));
  expect(busy(one, [1, 2, 3])).toEqual([1]);
});

test("[O5] tasks start only where the memory that they ask for is free", () => {
  const session = new ScriptedSession(3, 100, { resources: { cpu: 3, gpu: 0, memory: 10 } });
  const request = { cpu: 1, gpu: 0, memory: 4 };
  session.start(job("j", [tasks(0, splits(9), { sink: { kind: "count" }, request })]));
  expect(busy(session, [1, 2, 3])).toEqual([1, 2]);
  session.done(1);
  expect(session.tasksOf(1).length).toBe(2);
});

test("[O5] memory above a worker's limit: an idle worker gives way to a larger one, and that one goes when it is done", () => {
  const session = new ScriptedSession(2, 100, { workerMemory: 10, resources: { cpu: 2, gpu: 0, memory: 100 } });
  const request = { cpu: 1, gpu: 0, memory: 50 };
  session.start(job("j", [tasks(0, splits(2), { sink: { kind: "count" }, request, concurrency: { min: 1, max: 1 } })]));
  expect(busy(session, [1, 2])).toEqual([]);
  expect(session.commands.filter(({ type }) => type === "replace")).toEqual([
    { type: "replace", worker: 1, memory: 50 },
  ]);
  session.up(3, { memory: 50 });
  session.dies(1);
  session.done(3);
  expect(session.tasksOf(3).length).toBe(2);
  expect(busy(session, [2])).toEqual([]);
  expect(session.ordered("dismiss")).toBe(0);
  session.done(3);
  expect(session.wasTold("finished").length).toBe(1);
  expect(session.commands.filter(({ type }) => type === "dismiss")).toEqual([{ type: "dismiss", worker: 3 }]);
});

test("[O5] a larger worker that comes up when nobody needs it any more goes, and no other task begins in it", () => {
  const session = new ScriptedSession(2, 100, { workerMemory: 10, resources: { cpu: 2, gpu: 0, memory: 100 } });
  const count = { kind: "count" } as const;
  const request = { cpu: 1, gpu: 0, memory: 50 };
  session.start(job("large", [tasks(0, splits(1), { sink: count, request })]));
  session.program({ type: "cancel", job: "large" as JobId });
  // The other one is busy, so that the next task waits for whoever comes.
  session.start(job("small", [tasks(0, splits(2), { sink: count })]));
  expect(session.tasksOf(2).length).toBe(1);
  session.up(3, { memory: 50 });
  session.dies(1);
  expect(session.tasksOf(3).length).toBe(0);
  expect(session.commands.filter(({ type }) => type === "dismiss")).toEqual([{ type: "dismiss", worker: 3 }]);
});

const heldBack = (session: ScriptedSession, operator: number) =>
  session.wasTold("progress").at(-1)?.stats.operators[operator]?.heldBack;

test("[O4] a task whose output is not taken is given its budget of the store, and no more; stats name the policy", () => {
  const session = new ScriptedSession(4, 100);
  const one = { concurrency: { min: 1, max: 1 } };
  session.start(
    job("j", [
      tasks(0, splits(1), { sink: blocksOf(10) }),
      tasks(1, from(0), { sink: { kind: "count" }, ...one }),
      tasks(2, splits(1), { sink: blocksOf(10) }),
      tasks(3, from(2, 1), { sink: { kind: "count" } }),
    ]),
  );
  const grower = [1, 2, 3, 4].find((worker) => session.tasksOf(worker)[0] === "j/0/0") ?? 0;
  let blocks = 0;
  while (session.asks(grower, 10)) {
    session.handsOver(grower, 1, 10);
    blocks += 1;
  }
  // Its reservation is a quarter, the pool a half: 75 pages, so seven blocks fit.
  expect(blocks).toBe(7);
  session.now = 1_000;
  session.tell({ type: "tick" });
  expect(heldBack(session, 0)).toEqual({ ResourceBudgetBackpressurePolicy: 1 });
  // The other operator has its own reservation.
  const other = [1, 2, 3, 4].find((worker) => session.tasksOf(worker)[0] === "j/2/0") ?? 0;
  expect(session.asks(other, 10)).toBe(true);
});

test("[O4] the pool goes to who comes first, and of those who wait to the one downstream", () => {
  const session = new ScriptedSession(4, 120);
  session.start(job("j", [tasks(0, splits(4), { sink: blocksOf(10) }), tasks(1, from(0), { sink: blocksOf(10) })]));
  let blocks = 0;
  while (session.asks(1, 10)) {
    session.handsOver(1, 1, 10);
    blocks += 1;
  }
  // The reader was first: its reservation of 30 pages, and the pool of 60.
  expect(blocks).toBe(9);
  expect(session.asks(2, 10)).toBe(false);
  session.done(3);
  session.done(4);
  expect([session.taskOf(3).id, session.taskOf(4).id]).toEqual(["j/1/0", "j/1/1"]);
  for (const worker of [3, 3, 4]) {
    expect(session.asks(worker, 10)).toBe(true);
    session.handsOver(worker, 1, 10);
  }
  expect(session.asks(4, 10)).toBe(false);
  // A block of the reader is free: the task downstream gets it, although the readers asked before.
  const before = [1, 2, 4].map((worker) => session.grantsTo(worker));
  session.done(3);
  expect([1, 2, 4].map((worker, i) => session.grantsTo(worker) - (before[i] ?? 0))).toEqual([0, 0, 1]);
});

test("[O4] tasks start as far as the budget covers what they are expected to hand over, as learned from those before", () => {
  const session = new ScriptedSession(8, 100);
  const readers = () => [1, 2, 3, 4, 5, 6, 7, 8].filter((worker) => session.tasksOf(worker).length > 0).length;
  session.start(
    job("j", [tasks(0, splits(30), { sink: blocksOf(30) }), tasks(1, from(0), { sink: { kind: "count" } })]),
  );
  // Nothing is known: a block each, and three of those fit.
  expect(readers()).toBe(3);
  expect(session.asks(1, 2)).toBe(true);
  session.handsOver(1, 1, 2);
  session.done(1);
  // A task makes two pages, it turned out.
  expect(readers()).toBeGreaterThan(6);
});

test("[O4] a consumer that stops reading stops the readers within a few blocks", () => {
  const session = new ScriptedSession(2, 10_000);
  session.start(job("j", [tasks(0, splits(500))]), 3);
  let blocks = 0;
  // A worker asks once, and waits for the answer.
  for (const worker of [1, 2]) {
    for (; session.asks(worker); blocks++) session.handsOver(worker);
  }
  expect(blocks).toBeLessThanOrEqual(3 + 2 * 2 + 2 + 2);
  session.now = 2_000;
  session.tell({ type: "tick" });
  expect(heldBack(session, 0)).toEqual({ DownstreamCapacityBackpressurePolicy: 2 });
});

test("[O4] time under the user's own concurrency is told by its policy's name", () => {
  const session = new ScriptedSession(2, 100);
  session.start(job("j", [tasks(0, splits(3), { sink: { kind: "count" }, concurrency: { min: 1, max: 1 } })]));
  session.now = 500;
  session.done(1);
  session.now = 1_500;
  session.done(1);
  session.now = 4_500;
  session.done(1);
  expect(session.wasTold("finished")[0]?.stats.operators[0]?.heldBack).toEqual({
    ConcurrencyCapBackpressurePolicy: 1.5,
  });
});

const gpus = (gpu: number) => ({ request: { cpu: 0, gpu, memory: 0 }, sink: { kind: "count" } }) as const;
const devicesOf = (session: ScriptedSession, workers: readonly number[]) =>
  workers.map((worker) => session.taskOf(worker).devices);

test("[O9] tasks see devices of their own, given back when they end or their worker dies; others see none", () => {
  const session = new ScriptedSession(4, 100, { resources: { cpu: 4, gpu: 2, memory: 0 } });
  session.start(job("j", [tasks(0, splits(9), gpus(1))]));
  expect(busy(session, [1, 2, 3, 4])).toEqual([1, 2]);
  expect(devicesOf(session, [1, 2])).toEqual([["0"], ["1"]]);
  session.done(2);
  expect(devicesOf(session, [2])).toEqual([["1"]]);
  session.dies(1);
  expect(busy(session, [3, 4])).toEqual([3]);
  expect(devicesOf(session, [3])).toEqual([["0"]]);
  session.start(job("k", [tasks(0, splits(1), gpus(0))]));
  expect(devicesOf(session, [4])).toEqual([[]]);

  const without = new ScriptedSession(1, 100);
  without.start(job("j", [tasks(0, splits(1))]));
  expect(devicesOf(without, [1])).toEqual([null]);
});

test("[O9] an instance keeps its device between tasks and until it is disposed", () => {
  const session = new ScriptedSession(3, 100, { resources: { cpu: 3, gpu: 2, memory: 0 }, devices: ["3", "5"] });
  session.put();
  const model = { ...gpus(1), isClass: true, concurrency: { min: 1, max: 2 } };
  session.start(job("j", [tasks(0, splits(4), model)]));
  expect(devicesOf(session, [1, 2])).toEqual([["3"], ["5"]]);
  session.start(job("k", [tasks(0, splits(1), gpus(1))]));
  for (const worker of [2, 1, 2, 1]) session.done(worker);
  expect(session.tasksOf(1).length + session.tasksOf(2).length).toBe(4);
  // All is done, and yet both devices are the instances' until they have been disposed.
  expect(busy(session, [3])).toEqual([]);
  session.says(2, { type: "retired", job: "j" as JobId, operator: 0, error: null });
  const last = [1, 2, 3].map((worker) => session.tasksOf(worker).at(-1));
  expect(last).toContain("k/0/0");
  expect(devicesOf(session, [last.indexOf("k/0/0") + 1])).toEqual([["5"]]);
});

test("[O9] [O4] two classes that need the same GPU take turns", () => {
  const session = new ScriptedSession(2, 21, { resources: { cpu: 2, gpu: 1, memory: 0 } });
  session.put();
  const model = { request: { cpu: 1, gpu: 1, memory: 0 }, isClass: true };
  session.start(
    job("j", [
      tasks(0, splits(2), { ...model, sink: blocksOf(10) }),
      tasks(1, from(0), { ...model, sink: { kind: "count" } }),
    ]),
  );
  expect(session.asks(1, 10)).toBe(true);
  session.handsOver(1, 1, 10);
  session.done(1);
  // The first class would go on beyond its budget; the second one gets the device instead.
  session.says(1, { type: "retired", job: "j" as JobId, operator: 0, error: null });
  const second = [1, 2].find((worker) => session.tasksOf(worker).includes("j/1/0")) ?? 0;
  expect(devicesOf(session, [second])).toEqual([["0"]]);
});
