/** Whom the node's monitor ends, and what it does before: each decision of the scheduler shown alone, to the byte. */

import { expect, test } from "vitest";
import type { JobId, TaskOperator, WorkerId } from "../../src/protocol/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, PAYLOAD, tasks } from "../simulate/plans.ts";
import { MEMORY } from "../support/memory-settings.ts";
import { blocksOf, MIB, splits, Table } from "./table.ts";

/** Every worker has a task of its own, begun a second after the one before it. */
function busy(workers: number, more: Partial<TaskOperator> = {}, memory = MEMORY): Table {
  const table = new Table(0, 1000, { memory, workers, resources: { cpu: 100, gpu: 0, memory: 1e15 } });
  table.start(job("j", [tasks(0, splits(workers), { sink: { kind: "count" }, ...more })]));
  for (let worker = 1; worker <= workers; worker++) {
    table.now += 1_000;
    table.up(worker);
  }
  return table;
}

const killed = (table: Table): WorkerId[] =>
  table.commands.flatMap((one) => (one.type === "kill" && one.reason === "monitor" ? [one.worker] : []));

test("[M1] above the threshold, not at it, a worker ends, and its task is run again", () => {
  const table = busy(1);
  table.seen(200);
  table.nodeUses(950);
  expect(killed(table)).toEqual([]);
  table.nodeUses(950, 1);
  expect(killed(table)).toEqual([1]);
  expect(table.happened("monitorKill")).toEqual([
    {
      type: "monitorKill",
      worker: 1,
      pid: 1001,
      used: 950 * MIB + 1,
      total: 1000 * MIB,
      private: 200 * MIB,
      operator: "op0",
      why: "its task can be tried again; of 1 like it, it was the only one",
    },
  ]);
  table.dies(1, { signal: "SIGKILL", cause: "monitor" });
  table.up(2);
  table.now += 60_000;
  table.tell({ type: "tick" });
  table.done(2, 1);
  expect(table.wasTold("finished").length).toBe(1);
});

test("[M1] the newest task ends first, and as many at once as it takes to get below", () => {
  const table = busy(4);
  table.seen(100, 100, 100, 100);
  table.nodeUses(1000);
  expect(killed(table)).toEqual([4]);
  const more = busy(4);
  more.seen(100, 100, 100, 100);
  more.nodeUses(1000, 150 * MIB);
  expect(killed(more)).toEqual([4, 3, 2]);
  expect(more.happened("monitorKill").map(({ why }) => why)).toEqual([
    "its task can be tried again; of 4 like it, it began last",
    "its task can be tried again; of 4 like it, all but 1 began before it",
    "its task can be tried again; of 4 like it, all but 2 began before it",
  ]);
});

test("[M1] nobody ends while a victim is still dying", () => {
  const table = busy(3);
  table.seen(100, 100, 100);
  table.nodeUses(1000);
  table.nodeUses(1000, 500 * MIB);
  expect(killed(table)).toEqual([3]);
  table.dies(3, { signal: "SIGKILL", cause: "monitor" });
  table.nodeUses(1000);
  expect(killed(table)).toEqual([3, 2]);
});

test("[M1] one with little memory is left alone where another can help, and taken where there is no other", () => {
  const table = busy(2);
  table.seen(300, 20);
  table.nodeUses(960);
  expect(killed(table)).toEqual([1]);
  const little = busy(2);
  little.seen(20, 20);
  little.nodeUses(960);
  expect(killed(little)).toEqual([2]);
});

test("[M1] one whose memory another victim makes needless is left alone", () => {
  const table = busy(2);
  table.seen(300, 40);
  table.nodeUses(1000, 100 * MIB);
  expect(killed(table)).toEqual([1]);
});

test("[M1] idle workers end before tasks, if they have worked and have anything to give back", () => {
  const table = new Table(3, 1000, { memory: MEMORY });
  table.start(job("j", [tasks(0, splits(3), { sink: { kind: "count" } })]));
  table.done(1, 1);
  table.seen(100, 100, 100);
  table.nodeUses(960);
  expect(killed(table)).toEqual([1]);
  expect(table.happened("monitorKill")[0]).toMatchObject({
    operator: null,
    why: "it was idle, and its end costs no more than a restart",
  });
  table.dies(1, { signal: "SIGKILL", cause: "monitor" });
  // Its successor has done nothing yet: another restart would free nothing.
  table.up(4);
  table.seen(0, 100, 100, 100);
  table.tell({
    type: "memory",
    workers: [{ worker: 4 as WorkerId, private: 100 * MIB, shared: 0, children: 0 }],
    supervisor: { private: 0, shared: 0, children: 0 },
    program: { private: 0, shared: 0, children: 0 },
  });
  table.nodeUses(960);
  expect(killed(table)).not.toContain(4);
  expect(killed(table).length).toBe(2);
});

test("[M1] tasks that can be tried again end before those that cannot", () => {
  const table = new Table(2, 1000, { memory: MEMORY });
  const sink = { kind: "count" } as const;
  table.start(job("a", [tasks(0, splits(1), { sink })]));
  table.now += 1_000;
  table.start(job("b", [tasks(0, splits(1), { sink, maxRetries: 0, maxOomRetries: 0 })]));
  table.seen(100, 100);
  table.nodeUses(960);
  expect(killed(table)).toEqual([1]);
  table.dies(1, { signal: "SIGKILL", cause: "monitor" });
  table.nodeUses(960);
  expect(killed(table)).toEqual([1, 2]);
  expect(table.happened("monitorKill")[1]?.why).toMatch(/no task that can be tried again/);
});

test("[M1] a cancelled task is no loss: it ends before others", () => {
  const table = new Table(2, 1000, { memory: MEMORY });
  const sink = { kind: "count" } as const;
  table.start(job("a", [tasks(0, splits(1), { sink })]));
  table.now += 1_000;
  table.start(job("b", [tasks(0, splits(1), { sink })]));
  table.program({ type: "cancel", job: "a" as JobId });
  table.seen(100, 100);
  table.nodeUses(960);
  expect(killed(table)).toEqual([1]);
});

test("[M1] the wide kernel's process is judged by its task, as workers are", () => {
  const table = new Table(1, 1000, { memory: MEMORY });
  const sink = { kind: "count" } as const;
  table.start(job("j", [tasks(0, splits(1), { sink })]));
  table.now += 1_000;
  const input = {
    kind: "fed",
    tables: [{ operators: [], columns: [], ordered: false }],
    gather: { kind: "all" },
  } as const;
  table.start(job("k", [tasks(0, input, { place: "wide", sink })]));
  table.up(2, { isWide: true });
  expect(table.tasksOf(2).length).toBe(1);
  table.seen(100, 100);
  table.nodeUses(960);
  expect(killed(table)).toEqual([2]);
  table.dies(2, { signal: "SIGKILL", cause: "monitor" });
  expect(table.ordered("spawnWide")).toBe(2);
});

test("[M1] nothing is given to a worker that is about to end", () => {
  const table = busy(2, { sink: blocksOf(1) });
  table.seen(100, 100);
  table.nodeUses(960);
  expect(killed(table)).toEqual([2]);
  expect(table.asks(2)).toBe(false);
  const before = table.tasksOf(2).length;
  table.done(2, 1);
  table.start(job("k", [tasks(0, splits(4), { sink: { kind: "count" } })]));
  expect(table.tasksOf(2).length).toBe(before);
});

test("[M1] a class has no instance more while the one that is about to end is still there", () => {
  const table = new Table(2, 1000, { memory: MEMORY });
  table.put();
  const one = { isClass: true, concurrency: { min: 1, max: 1 }, sink: { kind: "count" } } as const;
  table.start(job("j", [tasks(0, splits(2), one)], { holds: [PAYLOAD] }));
  table.seen(100, 100);
  table.nodeUses(960);
  expect(killed(table)).toEqual([1]);
  table.done(1, 1);
  expect(table.tasksOf(2)).toEqual([]);
  table.dies(1, { signal: "SIGKILL", cause: "monitor" });
  expect(table.tasksOf(2).length).toBe(1);
});

test("[M1] memoryMonitorRefreshMs 0: nobody ends, whatever the node uses", () => {
  const table = busy(2, {}, { ...MEMORY, memoryMonitorRefreshMs: 0 });
  table.seen(400, 400);
  table.nodeUses(1000);
  expect(killed(table)).toEqual([]);
});

test("[M1] memoryUsageThreshold says where it begins", () => {
  const table = busy(1, {}, { ...MEMORY, memoryUsageThreshold: 0.5 });
  table.seen(400);
  table.nodeUses(500);
  expect(killed(table)).toEqual([]);
  table.nodeUses(501);
  expect(killed(table)).toEqual([1]);
});

test("[M1] a little below the threshold blocks that do not flow go to disk, and their pages back to the system", () => {
  const table = new Table(1, 100, { memory: MEMORY });
  const [first, second] = [table.put(10), table.put(10)];
  table.nodeUses(900);
  expect(table.spilled).toEqual([]);
  table.nodeUses(900, 10 * PAGE);
  expect(table.spilled).toEqual([first]);
  // What is on its way out is not asked for twice.
  table.nodeUses(900, 10 * PAGE);
  expect(table.spilled).toEqual([first]);
  table.diskWrites();
  expect(table.scheduler.ledger.cached).toBe(10 * PAGE);
  table.nodeUses(900, 4 * PAGE);
  expect(table.commands.findLast(({ type }) => type === "punch")).toMatchObject({ ranges: [{ length: 4 * PAGE }] });
  expect(table.scheduler.ledger.cached).toBe(6 * PAGE);
  expect(table.scheduler.ledger.stateOf(second)).toBe("resident");
});

test("[M1] pages that the store gives back count before anybody is ended", () => {
  const table = busy(1);
  const block = table.put(100);
  table.program({ type: "release", blocks: [block] });
  table.seen(200);
  table.nodeUses(950, 100 * PAGE);
  expect(table.ordered("punch")).toBe(1);
  expect(killed(table)).toEqual([]);
  table.nodeUses(950, 100 * PAGE);
  expect(killed(table)).toEqual([1]);
});

test("[M4] the error of a task that the monitor ended says why it was this one, and its death is an event", () => {
  const table = busy(2, { maxOomRetries: 0 });
  table.seen(100, 100);
  table.nodeUses(1000);
  expect(killed(table)).toEqual([2]);
  table.dies(2, { signal: "SIGKILL", cause: "monitor" });
  expect(table.wasTold("failed").at(-1)?.error.message).toContain(
    "\n  chosen: no task that can be tried again frees enough; of 2 like it, it began last\n",
  );
  expect(table.happened("workerDied")).toMatchObject([{ worker: 2, reason: "monitor", operator: "op0" }]);
});
