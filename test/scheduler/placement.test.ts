/** Where a task goes, and who answers for which blocks (K15): each decision of the scheduler shown alone. */

import { expect, test } from "vitest";
import type { BlockId, MemorySettings, WorkerId } from "../../src/protocol/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { MEMORY } from "../support/memory-settings.ts";
import { blocksOf, from, splits, Table } from "./table.ts";

const sink = { kind: "count" } as const;

function idle(workers: number, memory: MemorySettings = MEMORY): Table {
  return new Table(workers, 1000, { memory });
}

/** What was seen has been there for long: it is not recent any more. */
function seenForLong(table: Table, ...mebibytes: number[]): void {
  table.seen(...mebibytes);
  table.now += 2 * MEMORY.recentToOldTime;
  table.seen(...mebibytes);
}

/** Workers in the order in which they got their first task. */
const order = (table: Table): WorkerId[] => [
  ...new Set(
    table.commands.flatMap((one) => (one.type === "toWorker" && one.message.type === "run" ? [one.worker] : [])),
  ),
];

/** The worker's task makes so many blocks of a page, which the program keeps. */
function makes(table: Table, worker: number, blocks: number): void {
  for (let i = 0; i < blocks; i++) {
    table.asks(worker);
    table.handsOver(worker);
    const id = table.wasTold("output").at(-1)?.slice.block.id;
    if (id === undefined) throw new Error("no output");
    table.program({ type: "keep", blocks: [id] });
  }
}

test("[K15] a task goes to the idle worker with the least memory", () => {
  const table = idle(3);
  seenForLong(table, 300, 100, 200);
  table.start(job("j", [tasks(0, splits(3), { sink })]));
  expect(order(table)).toEqual([2, 3, 1]);
});

test("[K15] among equals the order is that of becoming idle", () => {
  const table = idle(3);
  seenForLong(table, 100, 100, 100);
  table.start(job("j", [tasks(0, splits(3), { sink })]));
  expect(order(table)).toEqual([1, 2, 3]);
});

test("[K15] blocks that a worker is answerable for count as its memory", () => {
  const table = idle(2, { ...MEMORY, measure: "managed" });
  table.start(job("j", [tasks(0, splits(1), { sink: blocksOf(1) })]), 8);
  makes(table, 1, 4);
  table.done(1, 4);
  table.seen(0, 400);
  const before = order(table).length;
  table.start(job("k", [tasks(0, splits(1), { sink })]));
  expect(order(table).slice(before)).toEqual([2]);
});

test("[K15] of the workers that have the operator the one with the least memory, and none that has it not", () => {
  const table = idle(4);
  const makesBlock = () => {
    table.asks(1);
    table.handsOver(1);
  };
  table.start(job("j", [tasks(0, splits(1), { sink: blocksOf(1) }), tasks(1, from(0), { sink })]));
  makesBlock();
  makesBlock();
  expect(order(table)).toEqual([1, 2, 3]);
  table.done(2, 1);
  table.done(3, 1);
  seenForLong(table, 0, 300, 100, 0);
  makesBlock();
  expect([2, 3, 4].map((worker) => table.tasksOf(worker).length)).toEqual([1, 2, 0]);
});

test("[K15] rebalance evens out the blocks that workers are answerable for, and says what moved", () => {
  const table = idle(3);
  table.start(job("j", [tasks(0, splits(3), { sink: blocksOf(1) })]), 40);
  makes(table, 1, 12);
  const { ledger } = table.scheduler;
  const managed = () => [1, 2, 3].map((worker) => ledger.managed(worker as WorkerId) / PAGE);
  expect(managed()).toEqual([12, 0, 0]);
  table.program({ type: "rebalance", request: 7 });
  const even = managed();
  expect(even.reduce((sum, pages) => sum + pages, 0)).toBe(12);
  expect(Math.max(...even) - Math.min(...even)).toBeLessThanOrEqual(1);
  const { moved } = table.wasTold("rebalanced")[0] ?? {};
  expect(moved?.length).toBe(12 - (even[0] ?? 0));
  expect(moved?.every(({ from, bytes }) => from === 1 && bytes === PAGE)).toBe(true);
  for (const { block, to } of moved ?? []) expect(ledger.makerOf(block)).toBe(to);
  expect(table.happened("rebalanced")).toEqual([
    { type: "rebalanced", blocks: moved?.length, bytes: (moved?.length ?? 0) * PAGE },
  ]);
  table.program({ type: "rebalance", request: 8 });
  expect(table.wasTold("rebalanced")[1]?.moved).toEqual([]);
  ledger.assertConsistent();
});

test("[K15] rebalance gives workers what a dead one made, and leaves the program what it put there", () => {
  const table = idle(3);
  const put = table.put(5);
  table.start(job("j", [tasks(0, splits(3), { sink: blocksOf(1) })]), 40);
  makes(table, 1, 4);
  makes(table, 2, 3);
  table.dies(1);
  const { ledger } = table.scheduler;
  expect(ledger.managed(null)).toBe(9 * PAGE);
  table.program({ type: "rebalance", request: 7 });
  expect(ledger.managed(null)).toBe(5 * PAGE);
  expect(ledger.makerOf(put)).toBe(null);
  const { moved = [] } = table.wasTold("rebalanced")[0] ?? {};
  expect(moved.map(({ from }) => from)).toEqual([null, null, null, null]);
  expect([2, 3].map((worker) => ledger.managed(worker as WorkerId) / PAGE).sort()).toEqual([3, 4]);
  // They are theirs now: with the worker's end they are nobody's again.
  const [first] = moved;
  table.dies(first?.to ?? 0);
  expect(ledger.isOrphaned(first?.block ?? (0 as BlockId))).toBe(true);
  ledger.assertConsistent();
});

test("[K15] a block that somebody reads, or that is on disk, stays with whom it was", () => {
  const table = idle(2);
  table.start(job("j", [tasks(0, splits(2), { sink: blocksOf(1) })]), 40);
  for (let i = 0; i < 6; i++) {
    table.asks(1);
    table.handsOver(1);
  }
  // The program reads them where they are.
  table.program({ type: "rebalance", request: 7 });
  expect(table.wasTold("rebalanced")[0]?.moved).toEqual([]);
  expect(table.scheduler.ledger.managed(1 as WorkerId)).toBe(6 * PAGE);
});
