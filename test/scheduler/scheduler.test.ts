/** Single decisions of the scheduler, each shown alone. */
import { expect, test } from "vitest";
import type { BlockId, JobId } from "../../src/protocol/index.ts";
import { CANCEL_GRACE } from "../../src/scheduler/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, slice, tasks } from "../simulate/plans.ts";
import { from, rowsOf, splits, Table } from "./table.ts";

test("[R11] a block consumed by its only reader is released when that task is done", () => {
  const table = new Table(1, 100);
  table.start(job("j", [tasks(0, splits(1)), tasks(1, from(0), { sink: { kind: "count" } })]));
  expect(table.asks(1)).toBe(true);
  table.handsOver(1);
  table.done(1);
  expect(table.taskOf(1).id).toBe("j/1/0");
  expect(table.scheduler.ledger.live).toBe(PAGE);
  table.done(1, 1);
  expect(table.scheduler.ledger.live).toBe(0);
  expect(table.wasTold("finished")[0]?.rows).toBe(1);
});

test("downstream runs before upstream", () => {
  const table = new Table(1, 100);
  table.start(job("j", [tasks(0, splits(5)), tasks(1, from(0), { sink: { kind: "count" } })]));
  table.asks(1);
  table.handsOver(1);
  table.done(1);
  expect(table.tasksOf(1)).toEqual(["j/0/0", "j/1/0"]);
  table.done(1);
  expect(table.tasksOf(1).at(-1)).toBe("j/0/1");
});

test("[A2] small blocks are bundled into whole batches; the rest goes when the input ends", () => {
  const table = new Table(1, 100);
  table.start(job("j", [tasks(0, splits(1)), tasks(1, from(0), { sink: { kind: "count" }, minRowsPerTask: 5 })]));
  for (let i = 0; i < 4; i++) {
    expect(table.asks(1)).toBe(true);
    table.handsOver(1, 2);
  }
  table.done(1);
  expect(rowsOf(table.taskOf(1).input)).toEqual([2, 2, 1]);
  table.done(1);
  expect(rowsOf(table.taskOf(1).input)).toEqual([1, 2]);
  table.done(1);
  expect(table.scheduler.ledger.live).toBe(0);
});

test("[A6] a limit slices blocks without copying, cancels what feeds it, and a limit of 0 runs nothing", () => {
  const table = new Table(2, 100);
  table.start(job("j", [tasks(0, splits(9)), slice(1, [0], 1, 4)]), 10);
  table.asks(2);
  table.handsOver(2, 10);
  expect(table.wasTold("output")).toEqual([]);
  table.asks(1);
  table.handsOver(1, 3);
  expect(table.wasTold("output").map(({ slice: one }) => [one.start, one.end])).toEqual([[1, 3]]);
  table.done(1);
  expect(table.wasTold("output").map(({ slice: one }) => [one.start, one.end])).toEqual([
    [1, 3],
    [0, 2],
  ]);
  expect(table.wasTold("finished")[0]?.rows).toBe(4);
  const cancels = table.commands.flatMap((one) =>
    one.type === "toWorker" && one.message.type === "cancel" ? [one.worker] : [],
  );
  expect(cancels).toEqual([2]);

  const nothing = new Table(2, 100);
  nothing.start(job("j", [tasks(0, splits(9)), slice(1, [0], 0, 0)]));
  expect(nothing.wasTold("finished")[0]?.rows).toBe(0);
  expect(nothing.tasksOf(1)).toEqual([]);
});

test("[O8] with preserveOrder blocks wait for their turn; without, they come as they come", () => {
  for (const preserveOrder of [true, false]) {
    const table = new Table(2, 100);
    table.start(job("j", [tasks(0, splits(2))], { preserveOrder }), 10);
    table.asks(2);
    table.handsOver(2, 7);
    table.done(2);
    expect(table.wasTold("output").map(({ slice: one }) => one.end)).toEqual(preserveOrder ? [] : [7]);
    table.asks(1);
    table.handsOver(1, 3);
    table.done(1);
    expect(table.wasTold("output").map(({ slice: one }) => one.end)).toEqual(preserveOrder ? [3, 7] : [7, 3]);
  }
});

test("[A3] a class keeps to its workers and never has more than it may", () => {
  const table = new Table(3, 100);
  table.put();
  table.start(
    job("j", [tasks(0, splits(6), { isClass: true, concurrency: { min: 1, max: 2 }, sink: { kind: "count" } })]),
  );
  const users = [1, 2, 3].filter((worker) => table.tasksOf(worker).length > 0);
  expect(users.length).toBe(2);
  for (let i = 0; i < 3; i++) for (const worker of users) table.done(worker);
  expect([1, 2, 3].filter((worker) => table.tasksOf(worker).length > 0)).toEqual(users);
  expect(table.wasTold("finished")).toEqual([]);
  for (const worker of users) table.says(worker, { type: "retired", job: "j" as JobId, operator: 0, error: null });
  expect(table.wasTold("finished").length).toBe(1);
});

test("[D5] a task whose worker died is run again with what it had handed over; its room is free at once", () => {
  const table = new Table(1, 100);
  table.start(job("j", [tasks(0, splits(1), { maxRetries: 1 })]), 10);
  table.asks(1);
  table.handsOver(1, 4);
  table.asks(1, 50);
  expect(table.scheduler.ledger.live).toBe(51 * PAGE);
  table.dies(1);
  expect(table.scheduler.ledger.live).toBe(PAGE);
  table.up(2);
  expect(table.taskOf(2)).toMatchObject({ attempt: 1, handedOver: [{ rows: 4, length: PAGE, checksum: 4 }] });
  table.dies(2);
  expect(table.wasTold("failed")[0]?.error).toMatchObject({ name: "WorkerDiedError" });
  expect(table.wasTold("failed")[0]?.error.message).toContain("last words");
});

test("[D5] a question for planning is asked again as often as a task is run again", () => {
  const table = new Table(1, 4);
  table.program({ type: "inspect", request: 7, sql: "SELECT 1", maxRetries: 2 });
  for (const worker of [1, 2, 3]) {
    expect(table.toWorker(worker).map(({ type }) => type)).toEqual(["inspect"]);
    table.dies(worker);
    table.up(worker + 1);
  }
  expect(table.wasTold("refused").map(({ error }) => error.message)).toEqual([
    expect.stringMatching(/inspect: .* after 3 attempts/),
  ]);
});

test("[A10] a cancel is answered, or the worker is killed after the grace", () => {
  const table = new Table(2, 100);
  table.start(job("j", [tasks(0, splits(2))]));
  table.program({ type: "cancel", job: "j" as JobId });
  table.says(1, { type: "cancelled", task: table.taskOf(1).id });
  expect(table.scheduler.alarmAt).toBe(CANCEL_GRACE);
  table.now = CANCEL_GRACE;
  table.tell({ type: "tick" });
  expect(table.commands.filter((one) => one.type === "kill")).toEqual([
    { type: "kill", worker: 2, reason: "unresponsive" },
  ]);
  table.dies(2);
  expect(table.scheduler.jobs).toBe(0);
  expect(table.wasTold("failed")).toEqual([]);
});

test("several jobs take turns", () => {
  const table = new Table(2, 100);
  table.start(job("a", [tasks(0, splits(50), { sink: { kind: "count" } })]));
  table.start(job("b", [tasks(0, splits(50), { sink: { kind: "count" } })]));
  for (let i = 0; i < 20; i++) {
    table.done(1);
    table.done(2);
  }
  const all = [...table.tasksOf(1), ...table.tasksOf(2)];
  const ofA = all.filter((id) => id.startsWith("a/")).length;
  expect(Math.abs(ofA - all.length / 2)).toBeLessThanOrEqual(2);
});

test("all workers held back by a paused job: another job gets a worker more, which goes again", () => {
  const table = new Table(1, 100);
  table.start(job("paused", [tasks(0, splits(1))]));
  while (table.asks(1)) table.handsOver(1);
  table.start(job("b", [tasks(0, splits(1), { sink: { kind: "count" } })]));
  expect(table.ordered("spawn")).toBe(0);
  table.now = table.scheduler.alarmAt ?? 0;
  table.tell({ type: "tick" });
  expect(table.ordered("spawn")).toBe(1);
  table.up(2);
  expect(table.taskOf(2).id).toBe("b/0/0");
  table.done(2);
  expect(table.wasTold("finished").map((one) => one.job)).toEqual(["b"]);
  expect(table.commands.filter((one) => one.type === "dismiss")).toEqual([{ type: "dismiss", worker: 2 }]);
});

test("a program that is still reading is waited for, however long it takes", () => {
  const table = new Table(1, 10);
  table.start(job("j", [tasks(0, splits(1))]), 12);
  while (table.asks(1)) table.handsOver(1);
  const before = table.grantsTo(1);
  table.now += 3_600_000;
  table.tell({ type: "tick" });
  expect(table.wasTold("failed")).toEqual([]);
  expect(table.spilled).toEqual([]);
  const [first] = table.wasTold("output");
  if (first === undefined) throw new Error("no output");
  table.program({ type: "release", blocks: [first.slice.block.id] });
  expect(table.grantsTo(1)).toBe(before + 1);
});

test("a job of blocks that are gone, or without operators, fails at its start", () => {
  const table = new Table(1, 10);
  table.start(job("a", [tasks(0, splits(1))], { holds: [7 as BlockId] }));
  table.start(job("b", []));
  table.start(job("c", [tasks(0, from(9))]));
  expect(table.wasTold("failed").map(({ error }) => error.message)).toEqual([
    expect.stringMatching(/block 7.*was disposed of/),
    "The job b has no operators.",
    "op0 needs operator 9, not listed before it.",
  ]);
  expect(table.scheduler.jobs).toBe(0);
});

test("what a job holds stays until it has ended, whoever else lets go", () => {
  const table = new Table(1, 10);
  table.program({ type: "reserve", request: 1, bytes: PAGE });
  const [{ range } = { range: { offset: 0, length: 0 } }] = table.wasTold("reserved");
  table.program({ type: "seal", request: 2, range, length: 100, rows: 0, checksum: 0 });
  const [{ block } = { block: null }] = table.wasTold("sealed");
  if (block === null) throw new Error("not sealed");
  table.start(job("j", [tasks(0, splits(1), { sink: { kind: "count" } })], { holds: [block.id] }));
  table.program({ type: "release", blocks: [block.id] });
  expect(table.scheduler.ledger.live).toBe(PAGE);
  table.done(1);
  expect(table.scheduler.ledger.live).toBe(0);
});

test("a block larger than the store fails its job and names both numbers", () => {
  const table = new Table(1, 10);
  table.start(job("j", [tasks(0, splits(1))]), 1);
  expect(table.asks(1, 11)).toBe(false);
  expect(table.wasTold("failed")[0]?.error.message).toMatch(/op0: a task needs 44.0 KiB.*capacity is 40.0 KiB/);
});

test("[R7] splits of a read are spread: with as many idle workers as splits each gets one", () => {
  const workers = [1, 2, 3, 4, 5, 6];
  for (const localityWithOutput of [false, true]) {
    const table = new Table(6, 1000, { localityWithOutput });
    table.start(job("j", [tasks(0, splits(6)), tasks(1, from(0), { sink: { kind: "count" } })]));
    expect(workers.map((worker) => table.tasksOf(worker).length)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(new Set(workers.flatMap((worker) => table.tasksOf(worker))).size).toBe(6);
  }
});

test("[O8] localityWithOutput: a task goes to the idle worker that made its input, and never waits for one", () => {
  // Worker 1 has run the consumer before, worker 2 makes the next block.
  const where = (localityWithOutput: boolean, makerIsIdle: boolean) => {
    const table = new Table(2, 100, { localityWithOutput });
    const one = { concurrency: { min: 1, max: 1 } };
    table.start(job("j", [tasks(0, splits(2)), tasks(1, from(0), { sink: { kind: "count" }, ...one })]));
    table.asks(1);
    table.handsOver(1);
    table.done(1);
    expect(table.taskOf(1).id).toBe("j/1/0");
    table.asks(2);
    table.handsOver(2);
    if (makerIsIdle) table.done(2);
    table.done(1);
    return [1, 2].find((worker) => table.tasksOf(worker).includes("j/1/1"));
  };
  expect(where(false, true)).toBe(1);
  expect(where(true, true)).toBe(2);
  expect(where(true, false)).toBe(1);
});
