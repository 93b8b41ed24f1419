/** Whom the node's monitor ends, and what it does before: each decision of the scheduler shown alone, to the byte. */

import { expect, test } from "vitest";
import type { JobId, TaskOperator, WorkerId } from "../../src/protocol/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, PAYLOAD, tasks } from "../simulate/plans.ts";
import { MEMORY } from "../support/memory-settings.ts";
import { blocksOf, MIB, ScriptedSession, splits } from "./scripted-session.ts";

/** Every worker has a task of its own, begun a second after the one before it. */
function busy(workers: number, more: Partial<TaskOperator> = {}, memory = MEMORY): ScriptedSession {
  const session = new ScriptedSession(0, 1000, { memory, workers, resources: { cpu: 100, gpu: 0, memory: 1e15 } });
  session.start(job("j", [tasks(0, splits(workers), { sink: { kind: "count" }, ...more })]));
  for (let worker = 1; worker <= workers; worker++) {
    session.now += 1_000;
    session.up(worker);
  }
  return session;
}

const killed = (session: ScriptedSession): WorkerId[] =>
  session.commands.flatMap((one) => (one.type === "kill" && one.reason === "monitor" ? [one.worker] : []));

test("[M1] above the threshold, not at it, a worker ends, and its task is run again", () => {
  const session = busy(1);
  session.seen(200);
  session.nodeUses(950);
  expect(killed(session)).toEqual([]);
  session.nodeUses(950, 1);
  expect(killed(session)).toEqual([1]);
  expect(session.happened("monitorKill")).toEqual([
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
  session.dies(1, { signal: "SIGKILL", cause: "monitor" });
  session.up(2);
  session.now += 60_000;
  session.tell({ type: "tick" });
  session.done(2, 1);
  expect(session.wasTold("finished").length).toBe(1);
});

test("[M1] the newest task ends first, and as many at once as it takes to get below", () => {
  const session = busy(4);
  session.seen(100, 100, 100, 100);
  session.nodeUses(1000);
  expect(killed(session)).toEqual([4]);
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
  const session = busy(3);
  session.seen(100, 100, 100);
  session.nodeUses(1000);
  session.nodeUses(1000, 500 * MIB);
  expect(killed(session)).toEqual([3]);
  session.dies(3, { signal: "SIGKILL", cause: "monitor" });
  session.nodeUses(1000);
  expect(killed(session)).toEqual([3, 2]);
});

test("[M1] one with little memory is left alone where another can help, and taken where there is no other", () => {
  const session = busy(2);
  session.seen(300, 20);
  session.nodeUses(960);
  expect(killed(session)).toEqual([1]);
  const little = busy(2);
  little.seen(20, 20);
  little.nodeUses(960);
  expect(killed(little)).toEqual([2]);
});

test("[M1] one whose memory another victim makes needless is left alone", () => {
  const session = busy(2);
  session.seen(300, 40);
  session.nodeUses(1000, 100 * MIB);
  expect(killed(session)).toEqual([1]);
});

test("[M1] idle workers end before tasks, if they have worked and have anything to give back", () => {
  const session = new ScriptedSession(3, 1000, { memory: MEMORY });
  session.start(job("j", [tasks(0, splits(3), { sink: { kind: "count" } })]));
  session.done(1, 1);
  session.seen(100, 100, 100);
  session.nodeUses(960);
  expect(killed(session)).toEqual([1]);
  expect(session.happened("monitorKill")[0]).toMatchObject({
    operator: null,
    why: "it was idle, and its end costs no more than a restart",
  });
  session.dies(1, { signal: "SIGKILL", cause: "monitor" });
  // Its successor has done nothing yet: another restart would free nothing.
  session.up(4);
  session.seen(0, 100, 100, 100);
  session.tell({
    type: "memory",
    workers: [{ worker: 4 as WorkerId, private: 100 * MIB, shared: 0, children: 0 }],
    supervisor: { private: 0, shared: 0, children: 0 },
    program: { private: 0, shared: 0, children: 0 },
    used: null,
  });
  session.nodeUses(960);
  expect(killed(session)).not.toContain(4);
  expect(killed(session).length).toBe(2);
});

test("[M1] tasks that can be tried again end before those that cannot", () => {
  const session = new ScriptedSession(2, 1000, { memory: MEMORY });
  const sink = { kind: "count" } as const;
  session.start(job("a", [tasks(0, splits(1), { sink })]));
  session.now += 1_000;
  session.start(job("b", [tasks(0, splits(1), { sink, maxRetries: 0, maxOomRetries: 0 })]));
  session.seen(100, 100);
  session.nodeUses(960);
  expect(killed(session)).toEqual([1]);
  session.dies(1, { signal: "SIGKILL", cause: "monitor" });
  session.nodeUses(960);
  expect(killed(session)).toEqual([1, 2]);
  expect(session.happened("monitorKill")[1]?.why).toMatch(/no task that can be tried again/);
});

test("[M1] a cancelled task is no loss: it ends before others", () => {
  const session = new ScriptedSession(2, 1000, { memory: MEMORY });
  const sink = { kind: "count" } as const;
  session.start(job("a", [tasks(0, splits(1), { sink })]));
  session.now += 1_000;
  session.start(job("b", [tasks(0, splits(1), { sink })]));
  session.program({ type: "cancel", job: "a" as JobId });
  session.seen(100, 100);
  session.nodeUses(960);
  expect(killed(session)).toEqual([1]);
});

test("[M1] the wide kernel's process is judged by its task, as workers are", () => {
  const session = new ScriptedSession(1, 1000, { memory: MEMORY });
  const sink = { kind: "count" } as const;
  session.start(job("j", [tasks(0, splits(1), { sink })]));
  session.now += 1_000;
  const input = {
    kind: "fed",
    tables: [{ operators: [], columns: [], ordered: false }],
    gather: { kind: "all" },
  } as const;
  session.start(job("k", [tasks(0, input, { place: "wide", sink })]));
  session.up(2, { isWide: true });
  expect(session.tasksOf(2).length).toBe(1);
  session.seen(100, 100);
  session.nodeUses(960);
  expect(killed(session)).toEqual([2]);
  session.dies(2, { signal: "SIGKILL", cause: "monitor" });
  expect(session.ordered("spawnWide")).toBe(2);
});

test("[M1] nothing is given to a worker that is about to end", () => {
  const session = busy(2, { sink: blocksOf(1) });
  session.seen(100, 100);
  session.nodeUses(960);
  expect(killed(session)).toEqual([2]);
  expect(session.asks(2)).toBe(false);
  const before = session.tasksOf(2).length;
  session.done(2, 1);
  session.start(job("k", [tasks(0, splits(4), { sink: { kind: "count" } })]));
  expect(session.tasksOf(2).length).toBe(before);
});

test("[M1] a class has no instance more while the one that is about to end is still there", () => {
  const session = new ScriptedSession(2, 1000, { memory: MEMORY });
  session.put();
  const one = { isClass: true, concurrency: { min: 1, max: 1 }, sink: { kind: "count" } } as const;
  session.start(job("j", [tasks(0, splits(2), one)], { holds: [PAYLOAD] }));
  session.seen(100, 100);
  session.nodeUses(960);
  expect(killed(session)).toEqual([1]);
  session.done(1, 1);
  expect(session.tasksOf(2)).toEqual([]);
  session.dies(1, { signal: "SIGKILL", cause: "monitor" });
  expect(session.tasksOf(2).length).toBe(1);
});

test("[M1] memoryMonitorRefreshMs 0: nobody ends, whatever the node uses", () => {
  const session = busy(2, {}, { ...MEMORY, memoryMonitorRefreshMs: 0 });
  session.seen(400, 400);
  session.nodeUses(1000);
  expect(killed(session)).toEqual([]);
});

test("[M1] memoryUsageThreshold says where it begins", () => {
  const session = busy(1, {}, { ...MEMORY, memoryUsageThreshold: 0.5 });
  session.seen(400);
  session.nodeUses(500);
  expect(killed(session)).toEqual([]);
  session.nodeUses(501);
  expect(killed(session)).toEqual([1]);
});

test("[M1] a little below the threshold blocks that do not flow go to disk, and their pages back to the system", () => {
  const session = new ScriptedSession(1, 100, { memory: MEMORY });
  const [first, second] = [session.put(10), session.put(10)];
  session.nodeUses(900);
  expect(session.spilled).toEqual([]);
  session.nodeUses(900, 10 * PAGE);
  expect(session.spilled).toEqual([first]);
  // What is on its way out is not asked for twice.
  session.nodeUses(900, 10 * PAGE);
  expect(session.spilled).toEqual([first]);
  session.diskWrites();
  expect(session.scheduler.ledger.cached).toBe(10 * PAGE);
  session.nodeUses(900, 4 * PAGE);
  expect(session.commands.findLast(({ type }) => type === "punch")).toMatchObject({ ranges: [{ length: 4 * PAGE }] });
  expect(session.scheduler.ledger.cached).toBe(6 * PAGE);
  expect(session.scheduler.ledger.stateOf(second)).toBe("resident");
});

test("[M1] pages that the store gives back count before anybody is ended", () => {
  const session = busy(1);
  const block = session.put(100);
  session.program({ type: "release", blocks: [block] });
  session.seen(200);
  session.nodeUses(950, 100 * PAGE);
  expect(session.ordered("punch")).toBe(1);
  expect(killed(session)).toEqual([]);
  session.nodeUses(950, 100 * PAGE);
  expect(killed(session)).toEqual([1]);
});

test("[M4] the error of a task that the monitor ended says why it was this one, and its death is an event", () => {
  const session = busy(2, { maxOomRetries: 0 });
  session.seen(100, 100);
  session.nodeUses(1000);
  expect(killed(session)).toEqual([2]);
  session.dies(2, { signal: "SIGKILL", cause: "monitor" });
  expect(session.wasTold("failed").at(-1)?.error.message).toContain(
    "\n  chosen: no task that can be tried again frees enough; of 2 like it, it began last\n",
  );
  expect(session.happened("workerDied")).toMatchObject([{ worker: 2, reason: "monitor", operator: "op0" }]);
});

test("[M1] nobody ends while another session on the node ends a worker, or has the right one to end", () => {
  const session = busy(1);
  session.seen(200);
  session.tell({ type: "nodeMemory", used: 990 * MIB, total: 1000 * MIB, mayEnd: false });
  expect(killed(session)).toEqual([]);
  expect(session.scheduler.victim).toEqual({ cost: 1, since: 1_000, private: 200 * MIB });
  session.nodeUses(990);
  expect(killed(session)).toEqual([1]);
  expect(session.scheduler.isEnding).toBe(true);
});
