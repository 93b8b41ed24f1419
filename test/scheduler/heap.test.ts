/** Workers whose JavaScript heap fills up from task to task: found out by what they tell, before V8 ends them. */

import { describe, expect, test } from "vitest";
import { job, tasks } from "../simulate/plans.ts";
import { settings } from "../support/memory-settings.ts";
import { LIMIT, splits, Table } from "./pressed.ts";

const OLD_SPACE = 100;
/** As V8 tells it: with the young generation. */
const V8_LIMIT = 125;

const heap = (used: number) => ({ used, limit: V8_LIMIT });

/** One worker, whose job has tasks enough. */
function leaking(memory = settings(), isClass = false): Table {
  const table = new Table(1, 400, { memory, workerMemory: LIMIT, workerHeap: OLD_SPACE });
  table.put();
  const one = { isClass, ...(isClass ? { concurrency: { min: 1, max: 1 } } : {}), sink: { kind: "count" } as const };
  table.start(job("j", [tasks(0, splits(100), one)]), 1);
  return table;
}

function told(table: Table, ...used: number[]): void {
  for (const bytes of used) table.done(1, 0, heap(bytes));
}

const asked = (table: Table) => table.toWorker(1).filter(({ type }) => type === "trim").length;

function trimLeaves(table: Table, used: number): void {
  const report = { worker: 1 as never, before: 9, after: 4, skipped: [] };
  table.says(1, { type: "trimmed", request: null, report, heap: heap(used) });
}

describe("[K11] a heap that fills up from task to task", () => {
  test("is trimmed past half of its limit; where more than half is left, its worker is replaced at once", () => {
    const table = leaking();
    told(table, 20, 40, 35, 50);
    expect([asked(table), table.tasksOf(1).length]).toEqual([0, 5]);
    told(table, 55);
    expect([asked(table), table.tasksOf(1).length]).toEqual([1, 5]);
    trimLeaves(table, 51);
    const why = /heap has grown from 20 B to 51 B of its 100 B over 5 tasks of op0: a leak/;
    expect(table.happened("recycled")).toMatchObject([{ worker: 1, why: expect.stringMatching(why) }]);
    expect(table.ordered("dismiss")).toBe(1);
  });

  test("where it was garbage the worker works on, and is trimmed again past the middle between what was left and the limit", () => {
    const table = leaking();
    told(table, 30, 51);
    trimLeaves(table, 20);
    expect([asked(table), table.ordered("dismiss"), table.tasksOf(1).length]).toEqual([1, 0, 3]);
    told(table, 59, 60);
    expect(asked(table)).toBe(1);
    told(table, 61);
    expect(asked(table)).toBe(2);
  });

  test("garbage costs ever fewer trims", () => {
    const table = leaking();
    let trims = 0;
    for (let task = 1; task <= 60; task++) {
      told(table, 90);
      if (asked(table) === trims) continue;
      trims += 1;
      trimLeaves(table, 20);
    }
    expect([trims, table.ordered("dismiss")]).toEqual([6, 0]);
  });

  test("a leak among garbage is found out with the next trim", () => {
    const table = leaking();
    told(table, 20, 70);
    trimLeaves(table, 50);
    expect([asked(table), table.ordered("dismiss")]).toEqual([1, 0]);
    told(table, 75, 76);
    trimLeaves(table, 60);
    expect([asked(table), table.ordered("dismiss")]).toEqual([2, 1]);
  });

  test("what the first task had to have is no leak", () => {
    const table = leaking();
    told(table, 65);
    trimLeaves(table, 60);
    told(table, 70, 81);
    trimLeaves(table, 70);
    expect([asked(table), table.ordered("dismiss")]).toEqual([2, 0]);
  });

  test("one of gigabytes takes its time to be collected: there is no answer after half a minute only", () => {
    const table = leaking();
    told(table, 20, 60);
    table.now += 29_999;
    table.tell({ type: "tick" });
    expect([table.ordered("dismiss"), table.scheduler.alarmAt]).toEqual([0, 30_000]);
    table.now += 1;
    table.tell({ type: "tick" });
    expect(table.ordered("dismiss")).toBe(1);
  });

  test("matters to nobody where only managed memory does, or no threshold is on", () => {
    const off = { target: false, spill: false, pause: false, terminate: false } as const;
    for (const memory of [settings({}, { measure: "managed" }), settings(off)]) {
      const table = leaking(memory);
      told(table, 20, 60, 80);
      expect(asked(table)).toBe(0);
    }
  });

  test("a task that V8 is ended under is run again as it was: those before it had half of the heap", () => {
    const table = leaking();
    told(table, 20, 51);
    trimLeaves(table, 49);
    told(table, 60);
    table.now += 10_000;
    table.dies(1, { cause: "heap" });
    expect(table.happened("oomRetry")).toMatchObject([{ need: { batchSize: null, atOnce: null, alone: false } }]);
  });
});

describe("[K11] what a class has constructed on the heap", () => {
  test("is no leak, however much of it there is", () => {
    const table = leaking(settings(), true);
    told(table, 80);
    trimLeaves(table, 79);
    // With so much in use it takes more to ask again.
    told(table, 82, 89);
    expect([asked(table), table.ordered("dismiss"), table.tasksOf(1).length]).toEqual([1, 0, 4]);
    told(table, 90);
    trimLeaves(table, 88);
    expect([asked(table), table.ordered("dismiss")]).toEqual([2, 0]);
  });

  test("and what it keeps beyond that, a tenth of the limit or more, is one", () => {
    const table = leaking(settings(), true);
    told(table, 60);
    trimLeaves(table, 55);
    told(table, 78);
    trimLeaves(table, 66);
    expect([asked(table), table.ordered("dismiss")]).toEqual([2, 1]);
  });
});
