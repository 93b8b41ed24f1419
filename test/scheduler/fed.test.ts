/** Fed tasks, the wide kernel and the memory it is lent, each decision shown alone. */
import { expect, test } from "vitest";
import type { FedTable, Gather, TaskOperator, WorkerId } from "../../src/protocol/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { ended } from "../support/ends.ts";
import { ScriptedSession, splits } from "./scripted-session.ts";

const WIDE = 9;

const fed = (gather: Gather, ...tables: (readonly number[])[]): TaskOperator["input"] => ({
  kind: "fed",
  tables: tables.map((operators): FedTable => ({ operators, columns: [] })),
  gather,
});

const wide = (id: number, ...inputs: number[]) =>
  tasks(id, fed({ kind: "all" }, ...(inputs.length === 0 ? [] : [inputs])), { place: "wide" });

const feedsTo = (session: ScriptedSession, worker: number) =>
  session.toWorker(worker).flatMap((one) => (one.type === "feed" ? [one] : []));
const endsTo = (session: ScriptedSession, worker: number) =>
  session.toWorker(worker).filter(({ type }) => type === "feedEnd").length;
const leasesTo = (session: ScriptedSession, worker: number) =>
  session.toWorker(worker).flatMap((one) => (one.type === "lease" ? [one.lease] : []));

function readsAll(session: ScriptedSession, worker: number): void {
  const { id } = session.taskOf(worker);
  const fedAlready = session.toWorker(worker).filter(({ type }) => type === "feed").length;
  for (let i = 0; i < fedAlready; i++) session.says(worker, { type: "fed", task: id });
}

test("[A9] a wide task is started beside the workers and fed while its producers run", () => {
  const session = new ScriptedSession(1, 100);
  session.start(job("j", [tasks(0, splits(2)), wide(1, 0)]), 10);
  expect(session.ordered("spawnWide")).toBe(1);
  session.up(WIDE, { isWide: true });
  expect(session.tasksOf(WIDE)).toEqual([]);
  session.asks(1);
  session.handsOver(1, 3);
  expect(session.taskOf(WIDE).input).toEqual({ kind: "fed", tables: [[]] });
  expect(feedsTo(session, WIDE).map(({ slices }) => slices.map(({ start, end }) => end - start))).toEqual([[3]]);
  expect(endsTo(session, WIDE)).toBe(0);
  session.done(1);
  session.done(1);
  expect(endsTo(session, WIDE)).toBe(1);
});

test("[D5] what a wide task made is seen when it is done; a death costs a retry, and its input is fed again", () => {
  const session = new ScriptedSession(1, 100);
  session.start(job("j", [tasks(0, splits(1)), wide(1, 0)]), 10);
  session.up(WIDE, { isWide: true });
  session.asks(1);
  session.handsOver(1, 3);
  session.done(1);
  readsAll(session, WIDE);
  session.asks(WIDE);
  session.handsOver(WIDE, 3);
  expect(session.wasTold("output")).toEqual([]);
  session.dies(WIDE);
  expect(session.ordered("spawnWide")).toBe(2);
  session.up(WIDE + 1, { isWide: true });
  expect(session.taskOf(WIDE + 1).handedOver).toEqual([]);
  expect(feedsTo(session, WIDE + 1)).toHaveLength(1);
  session.says(WIDE + 1, { type: "fed", task: session.taskOf(WIDE + 1).id });
  session.asks(WIDE + 1);
  session.handsOver(WIDE + 1, 3);
  expect(session.wasTold("output")).toEqual([]);
  session.done(WIDE + 1);
  expect(session.wasTold("output").map(({ slice }) => slice.end - slice.start)).toEqual([3]);
  session.program({ type: "release", blocks: session.wasTold("output").map(({ slice }) => slice.block.id) });
  expect(session.scheduler.ledger.live).toBe(0);
  expect(session.wasTold("finished")).toHaveLength(1);
  // What the first attempt made was thrown away, and does not count.
  const [, second] = session.wasTold("finished")[0]?.stats.operators ?? [];
  expect(second).toMatchObject({ tasks: 1, tasksDone: 1, retries: 1, blocks: 1 });
});

test("[D1] what a wide task has read goes to disk for what flows, before any of that does", () => {
  const session = new ScriptedSession(1, 4);
  session.start(job("j", [tasks(0, splits(8)), wide(1, 0)]), 10);
  session.up(WIDE, { isWide: true });
  for (let i = 0; i < 6; i++) {
    if (!session.asks(1)) session.diskWrites();
    session.handsOver(1);
    readsAll(session, WIDE);
    session.done(1);
  }
  expect(session.spilled.length).toBeGreaterThan(0);
  expect(session.wasTold("failed")).toEqual([]);
});

test("[A9] the rows of each partition meet in one task, once all producers have ended", () => {
  const session = new ScriptedSession(1, 100);
  const scattered = { sink: { kind: "blocks", targetBytes: PAGE, minBytes: false, scatter: 3 } } as const;
  const gather = { kind: "partitions", count: 3 } as const;
  session.start(job("j", [tasks(0, splits(1), scattered), tasks(1, fed(gather, [0]), { sink: { kind: "count" } })]));
  const { id } = session.taskOf(1);
  for (const partition of [0, 2, 2]) {
    session.asks(1);
    const room = session.toWorker(1).findLast((one) => one.type === "reserved");
    if (room?.type !== "reserved") throw new Error("no room");
    session.says(1, { type: "output", task: id, range: room.range, length: PAGE, rows: 1, checksum: 0, partition });
  }
  expect(session.tasksOf(1)).toEqual(["j/0/0"]);
  session.done(1);
  expect(session.tasksOf(1).at(-1)).toBe("j/1/0");
  session.now += 1_000;
  session.tell({ type: "tick" });
  expect(session.wasTold("progress").at(-1)?.stats.operators[1]).toMatchObject({ tasks: 2, tasksRunning: 1, share: 0 });
  expect(feedsTo(session, 1)).toHaveLength(1);
  expect(endsTo(session, 1)).toBe(1);
  session.says(1, { type: "fed", task: session.taskOf(1).id });
  session.done(1, 1);
  // Of the empty partition there is no task.
  expect(feedsTo(session, 1).at(-1)?.slices).toHaveLength(2);
  session.says(1, { type: "fed", task: session.taskOf(1).id });
  session.done(1, 2);
  expect(session.wasTold("finished")[0]?.rows).toBe(3);
  expect(session.scheduler.ledger.live).toBe(0);
});

test("[D1] small partitions that are neighbours meet in one task; a large one has its own", () => {
  const session = new ScriptedSession(1, 100);
  const scattered = { sink: { kind: "blocks", targetBytes: PAGE, minBytes: false, scatter: 5 } } as const;
  const gather = { kind: "partitions", count: 5, together: { target: 2 * PAGE, atLeast: 1 } } as const;
  session.start(job("j", [tasks(0, splits(1), scattered), tasks(1, fed(gather, [0]), { sink: { kind: "count" } })]));
  const { id } = session.taskOf(1);
  for (const partition of [4, 0, 2, 3, 3, 3]) {
    session.asks(1);
    const room = session.toWorker(1).findLast((one) => one.type === "reserved");
    if (room?.type !== "reserved") throw new Error("no room");
    session.says(1, { type: "output", task: id, range: room.range, length: PAGE, rows: 1, checksum: 0, partition });
  }
  session.done(1);
  const fedTo: number[] = [];
  for (let i = 0; i < 3; i++) {
    const before = feedsTo(session, 1).length;
    fedTo.push(feedsTo(session, 1).at(-1)?.slices.length ?? 0);
    session.says(1, { type: "fed", task: session.taskOf(1).id });
    session.done(1, 1);
    expect(feedsTo(session, 1).length).toBe(i < 2 ? before + 1 : before);
  }
  expect(session.tasksOf(1).slice(1)).toEqual(["j/1/0", "j/1/1", "j/1/2"]);
  expect(fedTo).toEqual([2, 3, 1]);
  expect(session.wasTold("finished")[0]?.rows).toBe(3);
  expect(session.scheduler.ledger.live).toBe(0);
});

test("[O4] the one task over all rows begins when all are there, and reads some of them at a time", () => {
  const session = new ScriptedSession(1, 100);
  const whole = { kind: "whole" } as const;
  session.start(job("j", [tasks(0, splits(1)), tasks(1, fed(whole, [0]), { sink: { kind: "count" } })]));
  for (let i = 0; i < 3; i++) {
    session.asks(1, 20);
    session.handsOver(1, 1, 20);
  }
  expect(session.tasksOf(1)).toEqual(["j/0/0"]);
  session.done(1);
  expect(session.tasksOf(1).at(-1)).toBe("j/1/0");
  const { id } = session.taskOf(1);
  for (let read = 1; read < 3; read++) {
    expect(feedsTo(session, 1)).toHaveLength(read);
    session.says(1, { type: "fed", task: id });
  }
  expect(endsTo(session, 1)).toBe(1);
});

test("[A6] of no blocks there is no task over all rows", () => {
  const session = new ScriptedSession(1, 100);
  session.start(job("j", [tasks(0, splits(1)), tasks(1, fed({ kind: "whole" }, [0]), { sink: { kind: "count" } })]));
  session.done(1);
  expect(session.tasksOf(1)).toEqual(["j/0/0"]);
  expect(session.wasTold("finished")[0]?.rows).toBe(0);
});

test("[A9] equal parts are cut where blocks are not", () => {
  const session = new ScriptedSession(1, 100);
  const parts = { kind: "parts", count: 3 } as const;
  session.start(job("j", [tasks(0, splits(1)), tasks(1, fed(parts, [0]), { sink: { kind: "count" } })]));
  for (const rows of [5, 4]) {
    session.asks(1);
    session.handsOver(1, rows);
  }
  session.done(1);
  const seen: (readonly [number, number])[][] = [];
  for (let i = 0; i < 3; i++) {
    seen.push(
      feedsTo(session, 1)
        .at(-1)
        ?.slices.map(({ start, end }) => [start, end] as const) ?? [],
    );
    session.says(1, { type: "fed", task: session.taskOf(1).id });
    session.done(1, 3);
  }
  expect(seen).toEqual([
    [[0, 3]],
    [
      [3, 5],
      [0, 1],
    ],
    [[1, 4]],
  ]);
  expect(session.scheduler.ledger.live).toBe(0);
});

test("[D1] what the wide kernel was lent comes back where nothing could go on without it", () => {
  const session = new ScriptedSession(1, 12, { pool: { memory: 16 * PAGE, overhead: 0, worker: 0, threads: 1 } });
  session.start(job("j", [tasks(0, splits(4)), wide(1, 0)]), 10);
  session.up(WIDE, { isWide: true });
  expect(session.asks(1, 1)).toBe(true);
  session.handsOver(1);
  expect(session.scheduler.ledger.lent).toBeGreaterThan(0);
  // Less than that is left of the store, and the kernel waits for this block.
  readsAll(session, WIDE);
  expect(session.asks(1, 9)).toBe(true);
  expect(session.scheduler.ledger.lent).toBe(0);
});

const MIB = 2 ** 20;
const POOL = { memory: 2048 * MIB, overhead: 64 * MIB, worker: 112 * MIB, threads: 2 };

test("[D1] alone, the wide kernel is lent what idle workers have, who end, and what the store does not hold", () => {
  const session = new ScriptedSession(2, (600 * MIB) / PAGE, { pool: POOL });
  session.tell({ type: "open" });
  session.start(job("j", [wide(0)]), 1);
  session.up(WIDE, { isWide: true });
  expect(session.ordered("dismiss")).toBe(2);
  for (const worker of [1, 2]) session.dies(worker, { exitCode: 0, cause: "asked" });
  expect(session.ordered("spawn")).toBe(0);
  const { lent, capacity } = session.scheduler.ledger;
  expect(lent).toBeGreaterThan(0);
  expect(lent).toBeLessThanOrEqual(capacity * 0.75);
  const memory = leasesTo(session, WIDE).at(-1)?.memory ?? 0;
  expect(memory).toBeGreaterThan(900 * MIB);
  expect(memory * 1.35).toBeLessThan(POOL.memory - POOL.overhead - (capacity - lent));
  session.done(WIDE);
  expect(session.scheduler.ledger.lent).toBe(0);
  expect(session.ordered("spawn")).toBe(2);
});

test("[D1] for a wide task over little no worker ends, unless it runs out of memory", () => {
  const session = new ScriptedSession(1, (600 * MIB) / PAGE, { pool: { ...POOL, memory: 800 * MIB } });
  session.start(job("j", [tasks(0, splits(1)), wide(1, 0)]), 1);
  session.up(WIDE, { isWide: true });
  expect(session.asks(1, 1)).toBe(true);
  session.handsOver(1);
  session.done(1);
  readsAll(session, WIDE);
  expect(session.ordered("dismiss")).toBe(0);
  const error = { name: "KernelMemoryError", message: "too much", stack: null, fields: {} };
  session.says(WIDE, { type: "failed", task: session.taskOf(WIDE).id, error });
  readsAll(session, WIDE);
  expect(session.ordered("dismiss")).toBe(1);
});

test("[D1] a kernel that runs out of memory is tried again with one thread, then with nearly all there is", () => {
  const session = new ScriptedSession(1, (600 * MIB) / PAGE, { pool: POOL });
  session.start(job("j", [wide(0)]), 1);
  session.up(WIDE, { isWide: true });
  const error = { name: "KernelMemoryError", message: "too much", stack: null, fields: {} };
  const fails = () => session.says(WIDE, { type: "failed", task: session.taskOf(WIDE).id, error });
  expect(leasesTo(session, WIDE).at(-1)?.threads).toBe(2);
  const first = leasesTo(session, WIDE).at(-1)?.memory ?? 0;
  fails();
  expect(leasesTo(session, WIDE).at(-1)?.threads).toBe(1);
  expect(session.wasTold("failed")).toEqual([]);
  fails();
  expect(leasesTo(session, WIDE).at(-1)?.memory).toBeGreaterThan(first);
  // More of the store than the three quarters that are lent before, where no block is under way.
  expect(session.scheduler.ledger.lent).toBeGreaterThan(session.scheduler.ledger.capacity * 0.9);
  fails();
  const [failed] = session.wasTold("failed");
  expect(failed?.error.name).toBe("OutOfMemoryError");
  expect(failed?.error.message).toContain("cause: the kernel ran out of memory");
  expect(failed?.error.message).toContain("too much");
  expect(failed?.stats.operators[0]).toMatchObject({ retries: 0, oomRetries: 2 });
});

test("[O10] what the wide kernel had on disk counts as spilled: the most of it, once", () => {
  const session = new ScriptedSession(1, 100);
  session.start(job("j", [wide(0)]), 1);
  session.up(WIDE, { isWide: true });
  for (const spilled of [0, 5 * MIB, 3 * MIB, 7 * MIB]) session.says(WIDE, { type: "kernel", memory: 1, spilled });
  session.done(WIDE);
  expect(session.wasTold("finished")[0]?.stats).toMatchObject({ spilledBytes: 7 * MIB, restoredBytes: 0 });
});

test("[D1] a fed task whose function is on disk waits for it like any other", () => {
  const session = new ScriptedSession(1, 6);
  session.put(1);
  const parts = { kind: "parts", count: 1 } as const;
  session.start(
    job("j", [tasks(0, splits(1)), tasks(1, fed(parts, [0]), { isClass: false, sink: { kind: "count" } })]),
  );
  for (let i = 0; i < 9; i++) {
    if (!session.asks(1)) session.diskWrites();
    session.handsOver(1);
  }
  expect(session.spilled).toContain(1);
  session.done(1);
  expect(session.wasTold("failed")).toEqual([]);
  session.diskWrites();
  session.diskReads();
  expect(session.tasksOf(1).at(-1)).toBe("j/1/0");
});

test("[D5] a wide kernel that the system kills comes back with one thread, and room for what it held beside buffers", () => {
  const session = new ScriptedSession(1, (600 * MIB) / PAGE, { pool: POOL });
  session.start(job("j", [wide(0)]), 1);
  session.up(WIDE, { isWide: true });
  const first = leasesTo(session, WIDE).at(-1)?.memory ?? 0;
  const curve = [{ at: 0, private: 2 * first + 60e6 }];
  session.tell({ type: "workerGone", worker: WIDE as WorkerId, end: ended({ signal: "SIGKILL", curve }) });
  session.up(WIDE + 1, { isWide: true });
  const second = leasesTo(session, WIDE + 1).at(-1);
  expect(second?.threads).toBe(1);
  // It had two bytes for each of its buffers; now it has nearly all the memory, and some more beside.
  const process = POOL.memory - POOL.overhead - (session.scheduler.ledger.capacity - session.scheduler.ledger.lent);
  expect(second?.memory).toBeLessThanOrEqual((process - 60e6) / 2.5);
  expect(second?.memory).toBeGreaterThan((process - 60e6) / 2.6);
  session.done(WIDE + 1);
  session.start(job("k", [wide(0)]), 1);
  expect(leasesTo(session, WIDE + 1).at(-1)?.threads).toBe(2);
});

test("[D5] a wide kernel that holds much beside its buffers has fewer of them before anybody has to end it", () => {
  const session = new ScriptedSession(1, (600 * MIB) / PAGE, { pool: POOL });
  session.start(job("j", [wide(0)]), 1);
  session.up(WIDE, { isWide: true });
  const first = leasesTo(session, WIDE).at(-1)?.memory ?? 0;
  const nobody = { private: 0, shared: 0, children: 0 };
  const holds = (buffers: number, beside: number) => {
    session.says(WIDE, { type: "kernel", memory: buffers, spilled: 0 });
    const reading = { worker: WIDE as WorkerId, private: 60e6 + buffers + beside, shared: 0, children: 0 };
    session.tell({ type: "memory", workers: [reading], supervisor: nobody, program: nobody, used: null });
  };
  for (let i = 0; i < 3; i++) holds(first / 2, first / 10);
  expect(leasesTo(session, WIDE).at(-1)?.memory).toBe(first);
  // The first two readings may only be later than the kernel's own word.
  for (let i = 0; i < 2; i++) holds(first / 2, first);
  expect(leasesTo(session, WIDE).at(-1)?.memory).toBe(first);
  holds(first / 2, first);
  const process = POOL.memory - POOL.overhead - (session.scheduler.ledger.capacity - session.scheduler.ledger.lent);
  expect(leasesTo(session, WIDE).at(-1)?.memory).toBeLessThanOrEqual(process - 60e6 - first);
  expect(leasesTo(session, WIDE).at(-1)?.memory).toBeGreaterThan(0.9 * (process - 60e6 - first));
});

test("[O4] a second block is fed ahead only where both leave room for what the task makes", () => {
  const repartitioned = (pagesOfABlock: number) => {
    const session = new ScriptedSession(1, 100);
    session.start(job("j", [tasks(0, splits(1)), tasks(1, fed({ kind: "parts", count: 1 }, [0]))]), 10);
    for (let i = 0; i < 2; i++) {
      session.asks(1, pagesOfABlock);
      session.handsOver(1, 3, pagesOfABlock);
    }
    session.done(1);
    return feedsTo(session, 1).length;
  };
  expect([repartitioned(12), repartitioned(13)]).toEqual([2, 1]);
});
