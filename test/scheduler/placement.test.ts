/** Where a task goes, and who answers for which blocks (K15): each decision of the scheduler shown alone. */

import { expect, test } from "vitest";
import type { BlockId, MemorySettings, WorkerId } from "../../src/protocol/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { MEMORY } from "../support/memory-settings.ts";
import { blocksOf, from, ScriptedSession, splits } from "./scripted-session.ts";

const sink = { kind: "count" } as const;

function idle(workers: number, memory: MemorySettings = MEMORY): ScriptedSession {
  return new ScriptedSession(workers, 1000, { memory });
}

/** What was seen has been there for long: it is not recent any more. */
function seenForLong(session: ScriptedSession, ...mebibytes: number[]): void {
  session.seen(...mebibytes);
  session.now += 2 * MEMORY.recentToOldTime;
  session.seen(...mebibytes);
}

/** Workers in the order in which they got their first task. */
const order = (session: ScriptedSession): WorkerId[] => [
  ...new Set(
    session.commands.flatMap((one) => (one.type === "toWorker" && one.message.type === "run" ? [one.worker] : [])),
  ),
];

/** The worker's task makes so many blocks of a page, which the program keeps. */
function makes(session: ScriptedSession, worker: number, blocks: number): void {
  for (let i = 0; i < blocks; i++) {
    session.asks(worker);
    session.handsOver(worker);
    const id = session.wasTold("output").at(-1)?.slice.block.id;
    if (id === undefined) throw new Error("no output");
    session.program({ type: "keep", blocks: [id] });
  }
}

test("[K15] a task goes to the idle worker with the least memory", () => {
  const session = idle(3);
  seenForLong(session, 300, 100, 200);
  session.start(job("j", [tasks(0, splits(3), { sink })]));
  expect(order(session)).toEqual([2, 3, 1]);
});

test("[K15] among equals the order is that of becoming idle", () => {
  const session = idle(3);
  seenForLong(session, 100, 100, 100);
  session.start(job("j", [tasks(0, splits(3), { sink })]));
  expect(order(session)).toEqual([1, 2, 3]);
});

test("[K15] blocks that a worker is answerable for count as its memory", () => {
  const session = idle(2, { ...MEMORY, measure: "managed" });
  session.start(job("j", [tasks(0, splits(1), { sink: blocksOf(1) })]), 8);
  makes(session, 1, 4);
  session.done(1, 4);
  session.seen(0, 400);
  const before = order(session).length;
  session.start(job("k", [tasks(0, splits(1), { sink })]));
  expect(order(session).slice(before)).toEqual([2]);
});

test("[K15] of the workers that have the operator the one with the least memory, and none that has it not", () => {
  const session = idle(4);
  const makesBlock = () => {
    session.asks(1);
    session.handsOver(1);
  };
  session.start(job("j", [tasks(0, splits(1), { sink: blocksOf(1) }), tasks(1, from(0), { sink })]));
  makesBlock();
  makesBlock();
  expect(order(session)).toEqual([1, 2, 3]);
  session.done(2, 1);
  session.done(3, 1);
  seenForLong(session, 0, 300, 100, 0);
  makesBlock();
  expect([2, 3, 4].map((worker) => session.tasksOf(worker).length)).toEqual([1, 2, 0]);
});

test("[K15] rebalance evens out the blocks that workers are answerable for, and says what moved", () => {
  const session = idle(3);
  session.start(job("j", [tasks(0, splits(3), { sink: blocksOf(1) })]), 40);
  makes(session, 1, 12);
  const { ledger } = session.scheduler;
  const managed = () => [1, 2, 3].map((worker) => ledger.managed(worker as WorkerId) / PAGE);
  expect(managed()).toEqual([12, 0, 0]);
  session.program({ type: "rebalance", request: 7 });
  const even = managed();
  expect(even.reduce((sum, pages) => sum + pages, 0)).toBe(12);
  expect(Math.max(...even) - Math.min(...even)).toBeLessThanOrEqual(1);
  const { moved } = session.wasTold("rebalanced")[0] ?? {};
  expect(moved?.length).toBe(12 - (even[0] ?? 0));
  expect(moved?.every(({ from, bytes }) => from === 1 && bytes === PAGE)).toBe(true);
  for (const { block, to } of moved ?? []) expect(ledger.makerOf(block)).toBe(to);
  expect(session.happened("rebalanced")).toEqual([
    { type: "rebalanced", blocks: moved?.length, bytes: (moved?.length ?? 0) * PAGE },
  ]);
  session.program({ type: "rebalance", request: 8 });
  expect(session.wasTold("rebalanced")[1]?.moved).toEqual([]);
  ledger.assertConsistent();
});

test("[K15] rebalance gives workers what a dead one made, and leaves the program what it put there", () => {
  const session = idle(3);
  const put = session.put(5);
  session.start(job("j", [tasks(0, splits(3), { sink: blocksOf(1) })]), 40);
  makes(session, 1, 4);
  makes(session, 2, 3);
  session.dies(1);
  const { ledger } = session.scheduler;
  expect(ledger.managed(null)).toBe(9 * PAGE);
  session.program({ type: "rebalance", request: 7 });
  expect(ledger.managed(null)).toBe(5 * PAGE);
  expect(ledger.makerOf(put)).toBe(null);
  const { moved = [] } = session.wasTold("rebalanced")[0] ?? {};
  expect(moved.map(({ from }) => from)).toEqual([null, null, null, null]);
  expect([2, 3].map((worker) => ledger.managed(worker as WorkerId) / PAGE).sort()).toEqual([3, 4]);
  // They are theirs now: with the worker's end they are nobody's again.
  const [first] = moved;
  session.dies(first?.to ?? 0);
  expect(ledger.isOrphaned(first?.block ?? (0 as BlockId))).toBe(true);
  ledger.assertConsistent();
});

test("[K15] a block that somebody reads, or that is on disk, stays with whom it was", () => {
  const session = idle(2);
  session.start(job("j", [tasks(0, splits(2), { sink: blocksOf(1) })]), 40);
  for (let i = 0; i < 6; i++) {
    session.asks(1);
    session.handsOver(1);
  }
  // The program reads them where they are.
  session.program({ type: "rebalance", request: 7 });
  expect(session.wasTold("rebalanced")[0]?.moved).toEqual([]);
  expect(session.scheduler.ledger.managed(1 as WorkerId)).toBe(6 * PAGE);
});
