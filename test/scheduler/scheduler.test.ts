/** Single decisions of the scheduler, each shown alone. */
import { expect, test } from "vitest";
import type { BlockId, JobId } from "../../src/protocol/index.ts";
import { CANCEL_GRACE } from "../../src/scheduler/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, slice, tasks } from "../simulate/plans.ts";
import { from, rowsOf, ScriptedSession, splits } from "./scripted-session.ts";

test("[R11] a block consumed by its only reader is released when that task is done", () => {
  const session = new ScriptedSession(1, 100);
  session.start(job("j", [tasks(0, splits(1)), tasks(1, from(0), { sink: { kind: "count" } })]));
  expect(session.asks(1)).toBe(true);
  session.handsOver(1);
  session.done(1);
  expect(session.taskOf(1).id).toBe("j/1/0");
  expect(session.scheduler.ledger.live).toBe(PAGE);
  session.done(1, 1);
  expect(session.scheduler.ledger.live).toBe(0);
  expect(session.wasTold("finished")[0]?.rows).toBe(1);
});

test("downstream runs before upstream", () => {
  const session = new ScriptedSession(1, 100);
  session.start(job("j", [tasks(0, splits(5)), tasks(1, from(0), { sink: { kind: "count" } })]));
  session.asks(1);
  session.handsOver(1);
  session.done(1);
  expect(session.tasksOf(1)).toEqual(["j/0/0", "j/1/0"]);
  session.done(1);
  expect(session.tasksOf(1).at(-1)).toBe("j/0/1");
});

test("[A2] small blocks are bundled into whole batches; the rest goes when the input ends", () => {
  const session = new ScriptedSession(1, 100);
  session.start(job("j", [tasks(0, splits(1)), tasks(1, from(0), { sink: { kind: "count" }, minRowsPerTask: 5 })]));
  for (let i = 0; i < 4; i++) {
    expect(session.asks(1)).toBe(true);
    session.handsOver(1, 2);
  }
  session.done(1);
  expect(rowsOf(session.taskOf(1).input)).toEqual([2, 2, 1]);
  session.done(1);
  expect(rowsOf(session.taskOf(1).input)).toEqual([1, 2]);
  session.done(1);
  expect(session.scheduler.ledger.live).toBe(0);
});

test("[A6] a limit slices blocks without copying, cancels what feeds it, and a limit of 0 runs nothing", () => {
  const session = new ScriptedSession(2, 100);
  session.start(job("j", [tasks(0, splits(9)), slice(1, [0], 1, 4)]), 10);
  session.asks(2);
  session.handsOver(2, 10);
  expect(session.wasTold("output")).toEqual([]);
  session.asks(1);
  session.handsOver(1, 3);
  expect(session.wasTold("output").map(({ slice: one }) => [one.start, one.end])).toEqual([[1, 3]]);
  session.done(1);
  expect(session.wasTold("output").map(({ slice: one }) => [one.start, one.end])).toEqual([
    [1, 3],
    [0, 2],
  ]);
  expect(session.wasTold("finished")[0]?.rows).toBe(4);
  const cancels = session.commands.flatMap((one) =>
    one.type === "toWorker" && one.message.type === "cancel" ? [one.worker] : [],
  );
  expect(cancels).toEqual([2]);

  const nothing = new ScriptedSession(2, 100);
  nothing.start(job("j", [tasks(0, splits(9)), slice(1, [0], 0, 0)]));
  expect(nothing.wasTold("finished")[0]?.rows).toBe(0);
  expect(nothing.tasksOf(1)).toEqual([]);
});

test("[O10] figures count what a limit passed on, and what tasks had handed over that it cut short", () => {
  const session = new ScriptedSession(2, 100);
  session.start(job("j", [tasks(0, splits(9)), slice(1, [0], 1, 4)]), 10);
  session.asks(2, 2);
  session.handsOver(2, 10, 2);
  session.says(2, {
    type: "progress",
    task: session.taskOf(2).id,
    rowsIn: 12,
    rowsOut: 12,
    bytesOut: 9,
    share: 0.5,
    peakMemory: 0,
  });
  session.now += 992;
  session.tell({ type: "tick" });
  expect(session.wasTold("progress").at(-1)?.stats.operators[0]?.rowsOut.total).toBe(12);
  session.asks(1);
  session.handsOver(1, 3);
  session.now += 8;
  session.done(1, 3);
  const [read, limit] = session.wasTold("finished")[0]?.stats.operators ?? [];
  expect(read).toMatchObject({ tasks: 9, tasksDone: 1, blocks: 2, share: 1 });
  expect(read?.rowsOut).toEqual({ min: 3, max: 10, mean: 6.5, total: 13 });
  expect(read?.bytesOut).toMatchObject({ min: 0, max: 2 * PAGE });
  expect(read?.wall).toEqual({ min: 1, max: 1_000, mean: 500.5, total: 1_001 });
  expect(read?.cpu).toEqual({ min: 1, max: 1, mean: 1, total: 1 });
  expect(limit).toMatchObject({ tasks: 0, blocks: 2, rowsOut: { min: 4, max: 4, total: 4 }, share: 1 });
});

test("[O8] with preserveOrder blocks wait for their turn; without, they come as they come", () => {
  for (const preserveOrder of [true, false]) {
    const session = new ScriptedSession(2, 100);
    session.start(job("j", [tasks(0, splits(2))], { preserveOrder }), 10);
    session.asks(2);
    session.handsOver(2, 7);
    session.done(2);
    expect(session.wasTold("output").map(({ slice: one }) => one.end)).toEqual(preserveOrder ? [] : [7]);
    session.asks(1);
    session.handsOver(1, 3);
    session.done(1);
    expect(session.wasTold("output").map(({ slice: one }) => one.end)).toEqual(preserveOrder ? [3, 7] : [7, 3]);
  }
});

test("[A3] a class keeps to its workers and never has more than it may", () => {
  const session = new ScriptedSession(3, 100);
  session.put();
  session.start(
    job("j", [tasks(0, splits(6), { isClass: true, concurrency: { min: 1, max: 2 }, sink: { kind: "count" } })]),
  );
  const users = [1, 2, 3].filter((worker) => session.tasksOf(worker).length > 0);
  expect(users.length).toBe(2);
  for (let i = 0; i < 3; i++) for (const worker of users) session.done(worker);
  expect([1, 2, 3].filter((worker) => session.tasksOf(worker).length > 0)).toEqual(users);
  expect(session.wasTold("finished")).toEqual([]);
  for (const worker of users) session.says(worker, { type: "retired", job: "j" as JobId, operator: 0, error: null });
  expect(session.wasTold("finished").length).toBe(1);
});

test("[D5] a task whose worker died is run again with what it had handed over; its room is free at once", () => {
  const session = new ScriptedSession(1, 100);
  session.start(job("j", [tasks(0, splits(1), { maxRetries: 1 })]), 10);
  session.asks(1);
  session.handsOver(1, 4);
  session.asks(1, 50);
  expect(session.scheduler.ledger.live).toBe(51 * PAGE);
  session.dies(1);
  expect(session.scheduler.ledger.live).toBe(PAGE);
  session.up(2);
  expect(session.taskOf(2)).toMatchObject({ attempt: 1, handedOver: [{ rows: 4, length: PAGE, checksum: 4 }] });
  session.dies(2);
  expect(session.wasTold("failed")[0]?.error).toMatchObject({ name: "WorkerDiedError" });
  expect(session.wasTold("failed")[0]?.error.message).toContain("last words");
});

test("[D5] a question for planning is asked again as often as a task is run again", () => {
  const session = new ScriptedSession(1, 4);
  session.program({ type: "inspect", request: 7, sql: "SELECT 1", maxRetries: 2 });
  for (const worker of [1, 2, 3]) {
    expect(session.toWorker(worker).map(({ type }) => type)).toEqual(["inspect"]);
    session.dies(worker);
    session.up(worker + 1);
  }
  expect(session.wasTold("refused").map(({ error }) => error.message)).toEqual([
    expect.stringMatching(/inspect: .* after 3 attempts/),
  ]);
});

test("[A10] a cancel is answered, or the worker is killed after the grace", () => {
  const session = new ScriptedSession(2, 100);
  session.start(job("j", [tasks(0, splits(2))]));
  session.program({ type: "cancel", job: "j" as JobId });
  session.says(1, { type: "cancelled", task: session.taskOf(1).id });
  expect(session.scheduler.alarmAt).toBe(CANCEL_GRACE);
  session.now = CANCEL_GRACE;
  session.tell({ type: "tick" });
  expect(session.commands.filter((one) => one.type === "kill")).toEqual([
    { type: "kill", worker: 2, reason: "unresponsive" },
  ]);
  session.dies(2);
  expect(session.scheduler.jobs).toBe(0);
  expect(session.wasTold("failed")).toEqual([]);
});

test("several jobs take turns", () => {
  const session = new ScriptedSession(2, 100);
  session.start(job("a", [tasks(0, splits(50), { sink: { kind: "count" } })]));
  session.start(job("b", [tasks(0, splits(50), { sink: { kind: "count" } })]));
  for (let i = 0; i < 20; i++) {
    session.done(1);
    session.done(2);
  }
  const all = [...session.tasksOf(1), ...session.tasksOf(2)];
  const ofA = all.filter((id) => id.startsWith("a/")).length;
  expect(Math.abs(ofA - all.length / 2)).toBeLessThanOrEqual(2);
});

test("all workers held back by a paused job: another job gets a worker more, which goes again", () => {
  const session = new ScriptedSession(1, 100);
  session.start(job("paused", [tasks(0, splits(1))]));
  while (session.asks(1)) session.handsOver(1);
  session.start(job("b", [tasks(0, splits(1), { sink: { kind: "count" } })]));
  expect(session.ordered("spawn")).toBe(0);
  session.now = session.scheduler.alarmAt ?? 0;
  session.tell({ type: "tick" });
  expect(session.ordered("spawn")).toBe(1);
  session.up(2);
  expect(session.taskOf(2).id).toBe("b/0/0");
  session.done(2);
  expect(session.wasTold("finished").map((one) => one.job)).toEqual(["b"]);
  expect(session.commands.filter((one) => one.type === "dismiss")).toEqual([{ type: "dismiss", worker: 2 }]);
});

test("a program that is still reading is waited for, however long it takes", () => {
  const session = new ScriptedSession(1, 10);
  session.start(job("j", [tasks(0, splits(1))]), 12);
  while (session.asks(1)) session.handsOver(1);
  const before = session.grantsTo(1);
  session.now += 3_600_000;
  session.tell({ type: "tick" });
  expect(session.wasTold("failed")).toEqual([]);
  expect(session.spilled).toEqual([]);
  const [first] = session.wasTold("output");
  if (first === undefined) throw new Error("no output");
  session.program({ type: "release", blocks: [first.slice.block.id] });
  expect(session.grantsTo(1)).toBe(before + 1);
});

test("a job of blocks that are gone, or without operators, fails at its start", () => {
  const session = new ScriptedSession(1, 10);
  session.start(job("a", [tasks(0, splits(1))], { holds: [7 as BlockId] }));
  session.start(job("b", []));
  session.start(job("c", [tasks(0, from(9))]));
  expect(session.wasTold("failed").map(({ error }) => error.message)).toEqual([
    expect.stringMatching(/block 7.*was disposed of/),
    "The job b has no operators.",
    "op0 needs operator 9, which is not listed before it.",
  ]);
  expect(session.scheduler.jobs).toBe(0);
});

test("what a job holds stays until it has ended, whoever else lets go", () => {
  const session = new ScriptedSession(1, 10);
  session.program({ type: "reserve", request: 1, bytes: PAGE });
  const [{ range } = { range: { offset: 0, length: 0 } }] = session.wasTold("reserved");
  session.program({ type: "seal", request: 2, range, length: 100, rows: 0, checksum: 0 });
  const [{ block } = { block: null }] = session.wasTold("sealed");
  if (block === null) throw new Error("not sealed");
  session.start(job("j", [tasks(0, splits(1), { sink: { kind: "count" } })], { holds: [block.id] }));
  session.program({ type: "release", blocks: [block.id] });
  expect(session.scheduler.ledger.live).toBe(PAGE);
  session.done(1);
  expect(session.scheduler.ledger.live).toBe(0);
});

test("a block larger than the store fails its job and names both numbers", () => {
  const session = new ScriptedSession(1, 10);
  session.start(job("j", [tasks(0, splits(1))]), 1);
  expect(session.asks(1, 11)).toBe(false);
  expect(session.wasTold("failed")[0]?.error.message).toMatch(/op0: a task needs 44.0 KiB.*capacity is 40.0 KiB/);
});

test("[R7] splits of a read are spread: with as many idle workers as splits each gets one", () => {
  const workers = [1, 2, 3, 4, 5, 6];
  for (const localityWithOutput of [false, true]) {
    const session = new ScriptedSession(6, 1000, { localityWithOutput });
    session.start(job("j", [tasks(0, splits(6)), tasks(1, from(0), { sink: { kind: "count" } })]));
    expect(workers.map((worker) => session.tasksOf(worker).length)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(new Set(workers.flatMap((worker) => session.tasksOf(worker))).size).toBe(6);
  }
});

test("[O8] localityWithOutput: a task goes to the idle worker that made its input, and never waits for one", () => {
  // Worker 1 has run the consumer before, worker 2 makes the next block.
  const where = (localityWithOutput: boolean, makerIsIdle: boolean) => {
    const session = new ScriptedSession(2, 100, { localityWithOutput });
    const one = { concurrency: { min: 1, max: 1 } };
    session.start(job("j", [tasks(0, splits(2)), tasks(1, from(0), { sink: { kind: "count" }, ...one })]));
    session.asks(1);
    session.handsOver(1);
    session.done(1);
    expect(session.taskOf(1).id).toBe("j/1/0");
    session.asks(2);
    session.handsOver(2);
    if (makerIsIdle) session.done(2);
    session.done(1);
    return [1, 2].find((worker) => session.tasksOf(worker).includes("j/1/1"));
  };
  expect(where(false, true)).toBe(1);
  expect(where(true, true)).toBe(2);
  expect(where(true, false)).toBe(1);
});
