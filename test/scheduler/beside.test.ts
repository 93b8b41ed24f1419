/** A job that stands still while another one's function works without an end: how it gets a worker, each step shown alone. */
import { describe, expect, test } from "vitest";
import type { JobSpec } from "../../src/protocol/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { from, splits, Table } from "./table.ts";

const GRACE = 250;
/** Of a producer's blocks that wait, with two workers. */
const BOUND = 6;

const endless: JobSpec = job("endless", [tasks(0, splits(1))]);
const piped = (name: string, count = 1): JobSpec => job(name, [tasks(0, splits(count)), tasks(1, from(0))]);

function passes(table: Table, milliseconds: number): void {
  table.now += milliseconds;
  table.tell({ type: "tick" });
}

const cancels = (table: Table, worker: number) => table.toWorker(worker).filter(({ type }) => type === "cancel").length;

/** The worker's task makes blocks until it has to wait for room. */
function fills(table: Table, worker: number): void {
  for (let blocks = 0; blocks < BOUND; blocks++) {
    expect(table.asks(worker)).toBe(true);
    table.handsOver(worker);
  }
  expect(table.asks(worker)).toBe(false);
}

/** The first worker has the endless function; the second a producer that waits, with a consumer that waits for a worker. */
function stuck(more: ConstructorParameters<typeof Table>[2] = {}, pages = 100): Table {
  const table = new Table(2, pages, more);
  table.start(endless, 10);
  table.start(piped("piped"), 10);
  expect([table.taskOf(1).job, table.taskOf(2).job]).toEqual(["endless", "piped"]);
  fills(table, 2);
  return table;
}

describe("[O4] a job whose producer waits for room, and whose consumer for a worker that an endless function has", () => {
  test("gets one worker more, soon and only one, and goes on in it", () => {
    const table = stuck();
    expect(table.scheduler.alarmAt).toBeLessThanOrEqual(GRACE);
    passes(table, GRACE - 1);
    expect(table.ordered("spawn")).toBe(0);
    passes(table, 1);
    expect(table.ordered("spawn")).toBe(1);
    table.up(3);
    expect(table.tasksOf(3)).toEqual(["piped/1/0"]);
    passes(table, 10 * GRACE);
    expect(table.ordered("spawn")).toBe(1);
    // What it has taken makes room for the producer, which was not disturbed.
    expect(table.grantsTo(2)).toBe(BOUND + 1);
    expect(cancels(table, 2)).toBe(0);
    // Nor does the next one of it wait, though the session has no core for it.
    table.handsOver(2);
    expect(table.asks(2)).toBe(false);
    table.done(3);
    expect(table.tasksOf(3)).toEqual(["piped/1/0", "piped/1/1"]);
  });

  test("gets none while its tasks go on, or where its producer has waited only for moments", () => {
    const table = new Table(2, 100);
    table.start(endless, 10);
    table.start(piped("piped"), 10);
    for (let blocks = 0; blocks < BOUND; blocks++) {
      passes(table, 10 * GRACE);
      expect(table.asks(2)).toBe(true);
      table.handsOver(2);
    }
    passes(table, 10 * GRACE);
    expect(table.asks(2)).toBe(false);
    passes(table, GRACE - 1);
    expect(table.ordered("spawn")).toBe(0);
  });

  test("gets none where all workers compute: then it waits for its turn", () => {
    const table = new Table(2, 100);
    table.start(job("busy", [tasks(0, splits(2))]), 10);
    table.start(piped("piped"), 10);
    passes(table, 100 * GRACE);
    expect(table.ordered("spawn")).toBe(0);
    expect(cancels(table, 1) + cancels(table, 2)).toBe(0);
  });

  test("where there can be no more workers, the producer may make more for as long as there is room", () => {
    const table = stuck({ extraWorkers: 0 });
    passes(table, GRACE);
    expect(table.ordered("spawn")).toBe(0);
    expect(table.grantsTo(2)).toBe(BOUND + 1);
    expect(cancels(table, 2)).toBe(0);
  });

  test("and where there is none, it gives its worker up, and is run again when what it made is read", () => {
    const table = new Table(2, 9, { extraWorkers: 0 });
    table.start(endless, 10);
    table.start(piped("piped"), 10);
    while (table.asks(2)) table.handsOver(2);
    const bound = table.grantsTo(2);
    for (let blocks = bound; blocks < 7; blocks++) {
      passes(table, GRACE);
      table.handsOver(2);
      expect(table.asks(2)).toBe(false);
    }
    passes(table, GRACE);
    expect([table.grantsTo(2), cancels(table, 2)]).toEqual([7, 1]);
    table.says(2, { type: "cancelled", task: table.taskOf(2).id });
    const [, ...later] = table.tasksOf(2);
    expect(later).toEqual(["piped/1/0"]);
    while (table.taskOf(2).operator === 1) table.done(2);
    expect(table.taskOf(2)).toMatchObject({ id: "piped/0/0", attempt: 0 });
    expect(table.taskOf(2).handedOver).toHaveLength(7);
    table.done(2);
    while (table.wasTold("finished").length === 0) table.done(2);
    expect(table.wasTold("finished").map((one) => one.job)).toEqual(["piped"]);
    expect(cancels(table, 1)).toBe(0);
  });
});

describe("[O4] a job without a worker, beside one that keeps them for tasks that wait behind its endless function", () => {
  /** The slow job's consumer is the endless one; its producer keeps the second worker. */
  function hogged(more: ConstructorParameters<typeof Table>[2] = {}): Table {
    const table = new Table(2, 100, more);
    const slow = job("slow", [tasks(0, splits(2)), tasks(1, from(0), { concurrency: { min: 1, max: 1 } })]);
    table.start(slow, 10);
    expect(table.asks(1)).toBe(true);
    table.handsOver(1);
    table.done(1);
    expect(table.tasksOf(1)).toEqual(["slow/0/0", "slow/1/0"]);
    fills(table, 2);
    table.start(job("other", [tasks(0, splits(1))]), 10);
    return table;
  }

  test("gets a worker more", () => {
    const table = hogged();
    passes(table, GRACE);
    expect(table.ordered("spawn")).toBe(1);
    table.up(3);
    expect(table.tasksOf(3)).toEqual(["other/0/0"]);
  });

  test("or the worker of one that waits, where there can be no more", () => {
    const table = hogged({ extraWorkers: 0 });
    passes(table, GRACE);
    expect([cancels(table, 1), cancels(table, 2)]).toEqual([0, 1]);
    table.says(2, { type: "cancelled", task: table.taskOf(2).id });
    expect(table.taskOf(2).id).toBe("other/0/0");
    table.done(2);
    expect(table.wasTold("finished").map((one) => one.job)).toEqual(["other"]);
    // There is still no room for what the other one would make.
    expect(table.tasksOf(2)).toEqual(["slow/0/1", "other/0/0"]);
    passes(table, 100 * GRACE);
    expect(cancels(table, 2)).toBe(1);
  });
});

test("[O4] of many that wait only one at a time gives its worker up", () => {
  const table = new Table(4, 400, { extraWorkers: 0 });
  table.start(job("slow", [tasks(0, splits(4)), tasks(1, from(0), { concurrency: { min: 1, max: 1 } })]), 10);
  expect(table.asks(1)).toBe(true);
  table.handsOver(1);
  table.done(1);
  expect(table.taskOf(1).id).toBe("slow/1/0");
  while (table.asks(2)) table.handsOver(2);
  expect([table.asks(3), table.asks(4)]).toEqual([false, false]);
  table.start(job("other", [tasks(0, splits(1))]), 10);
  passes(table, GRACE);
  expect(cancels(table, 2) + cancels(table, 3) + cancels(table, 4)).toBe(1);
});

test("[O4] an instance moves away from a worker where another job's function does not end, but not within seconds", () => {
  const table = new Table(2, 100);
  table.put();
  const instance = tasks(1, from(0), { isClass: true, concurrency: { min: 1, max: 1 } });
  table.start(job("model", [tasks(0, splits(1)), instance]), 10);
  const [maker, holder] = table.tasksOf(1).length > 0 ? [1, 2] : [2, 1];
  table.asks(maker);
  table.handsOver(maker);
  expect(table.tasksOf(holder)).toEqual(["model/1/0"]);
  table.done(holder);
  table.start(endless, 10);
  expect(table.taskOf(holder).job).toBe("endless");
  table.asks(maker);
  table.handsOver(maker);
  table.done(maker);
  const retired = () => table.toWorker(holder).filter(({ type }) => type === "retire").length;
  passes(table, 9_000);
  expect(retired()).toBe(0);
  expect(table.scheduler.alarmAt).toBe(10_000);
  passes(table, 1_000);
  expect(retired()).toBe(1);
  table.says(holder, { type: "retired", job: table.taskOf(maker).job, operator: 1, error: null });
  expect(table.tasksOf(maker)).toEqual(["model/0/0", "model/1/1"]);
});
