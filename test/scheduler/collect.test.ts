/** Garbage of the program that fills the store: the program is asked to collect it, in time and not too often. */
import { expect, test } from "vitest";
import { job, tasks } from "../simulate/plans.ts";
import { blocksOf, splits, Table } from "./table.ts";

/** A store of ten pages, of which the program keeps so many; a task asks for one more at a time. */
function keeps(pages: number): Table {
  const table = new Table(1, 10);
  table.hasNoGarbage = false;
  for (let i = 0; i < pages; i++) table.put();
  table.start(job("j", [tasks(0, splits(1), { sink: blocksOf(1) })]), 20);
  return table;
}

const asked = (table: Table) => table.wasTold("collect").length;

test("[R6] the program is asked to collect its garbage when room has to be made for somebody, and not before", () => {
  const table = keeps(9);
  table.asks(1);
  table.handsOver(1);
  expect(asked(table)).toBe(0);
  table.asks(1);
  expect(asked(table)).toBe(1);
});

test("[R6] it is not asked where it keeps next to nothing", () => {
  const table = new Table(1, 40);
  table.put();
  table.start(job("j", [tasks(0, splits(1), { sink: blocksOf(1) })]), 60);
  for (let i = 0; i < 39; i++) {
    table.asks(1);
    table.handsOver(1);
  }
  table.asks(1);
  expect(asked(table)).toBe(0);
});

/** Room has to be made: what the program puts there does not fit beside what it keeps. */
function needsRoom(table: Table, after: number): number {
  const before = asked(table);
  table.now += after;
  table.putAfterSpilling(1);
  return asked(table) - before;
}

test("[R6] once until it has answered, then not before a second is over; each time that was in vain doubles that", () => {
  const table = keeps(10);
  expect([needsRoom(table, 0), needsRoom(table, 5_000)]).toEqual([1, 0]);
  for (const pause of [1_000, 2_000, 4_000]) {
    table.program({ type: "collected", took: 1 });
    expect([needsRoom(table, pause - 1), needsRoom(table, 1)]).toEqual([0, 1]);
  }
});

test("[R6] one that found something is followed by the next after a second again", () => {
  const table = keeps(9);
  const garbage = table.put();
  needsRoom(table, 0);
  table.program({ type: "collected", took: 1 });
  needsRoom(table, 1_000);
  table.program({ type: "release", blocks: [garbage] });
  needsRoom(table, 0);
  table.program({
    type: "release",
    blocks: table
      .wasTold("sealed")
      .slice(-2)
      .map(({ block }) => block.id),
  });
  table.program({ type: "collected", took: 1 });
  needsRoom(table, 0);
  needsRoom(table, 0);
  expect([needsRoom(table, 999), needsRoom(table, 1)]).toEqual([0, 1]);
});

test("[R6] a collection that took long is not asked for again soon: they take a twentieth of the time at most", () => {
  const table = keeps(10);
  needsRoom(table, 0);
  table.program({ type: "collected", took: 400 });
  expect([needsRoom(table, 7_999), needsRoom(table, 1)]).toEqual([0, 1]);
});

test("[R6] before a job fails for want of room the program is asked, and its answer waited for", () => {
  const table = new Table(1, 10);
  table.hasNoGarbage = false;
  table.put();
  table.start(job("j", [tasks(0, splits(1), { sink: blocksOf(1) })]), 1);
  const kept = [1, 2, 3, 4].map(() => table.put(2));
  table.asks(1, 2);
  // What the program keeps cannot leave: the disk refuses, and goes on doing so.
  const refused = () => {
    table.diskRefuses("no space left");
    table.now += 1_000;
    table.tell({ type: "tick" });
  };
  for (let i = 0; i < 300; i++) refused();
  expect(asked(table)).toBeGreaterThan(0);
  expect(table.wasTold("failed")).toEqual([]);
  table.program({ type: "release", blocks: kept });
  table.program({ type: "collected", took: 1 });
  expect(table.wasTold("failed")).toEqual([]);
  expect(table.toWorker(1).filter(({ type }) => type === "reserved")).toHaveLength(1);
});

test("[R6] where a collection finds nothing the job fails", () => {
  const table = new Table(1, 10);
  table.hasNoGarbage = false;
  table.put();
  table.start(job("j", [tasks(0, splits(1), { sink: blocksOf(1) })]), 1);
  for (let i = 0; i < 4; i++) table.put(2);
  table.asks(1, 2);
  for (let i = 0; i < 300; i++) {
    table.diskRefuses("no space left");
    table.now += 1_000;
    table.tell({ type: "tick" });
    if (i % 10 === 0) table.program({ type: "collected", took: 1 });
  }
  expect(table.wasTold("failed")).toMatchObject([{ error: { message: "no space left" } }]);
});
