/** Fed tasks, the wide kernel and the memory it is lent, each decision shown alone. */
import { expect, test } from "vitest";
import type { FedTable, Gather, TaskOperator, WorkerId } from "../../src/protocol/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { ended } from "../support/ends.ts";
import { splits, Table } from "./table.ts";

const WIDE = 9;

const fed = (gather: Gather, ...tables: (readonly number[])[]): TaskOperator["input"] => ({
  kind: "fed",
  tables: tables.map((operators): FedTable => ({ operators, columns: [] })),
  gather,
});

const wide = (id: number, ...inputs: number[]) =>
  tasks(id, fed({ kind: "all" }, ...(inputs.length === 0 ? [] : [inputs])), { place: "wide" });

const feedsTo = (table: Table, worker: number) =>
  table.toWorker(worker).flatMap((one) => (one.type === "feed" ? [one] : []));
const endsTo = (table: Table, worker: number) => table.toWorker(worker).filter(({ type }) => type === "feedEnd").length;
const leasesTo = (table: Table, worker: number) =>
  table.toWorker(worker).flatMap((one) => (one.type === "lease" ? [one.lease] : []));

function readsAll(table: Table, worker: number): void {
  const { id } = table.taskOf(worker);
  const fedAlready = table.toWorker(worker).filter(({ type }) => type === "feed").length;
  for (let i = 0; i < fedAlready; i++) table.says(worker, { type: "fed", task: id });
}

test("[A9] a wide task is started beside the workers and fed while its producers run", () => {
  const table = new Table(1, 100);
  table.start(job("j", [tasks(0, splits(2)), wide(1, 0)]), 10);
  expect(table.ordered("spawnWide")).toBe(1);
  table.up(WIDE, { isWide: true });
  expect(table.tasksOf(WIDE)).toEqual([]);
  table.asks(1);
  table.handsOver(1, 3);
  expect(table.taskOf(WIDE).input).toEqual({ kind: "fed", tables: [[]] });
  expect(feedsTo(table, WIDE).map(({ slices }) => slices.map(({ start, end }) => end - start))).toEqual([[3]]);
  expect(endsTo(table, WIDE)).toBe(0);
  table.done(1);
  table.done(1);
  expect(endsTo(table, WIDE)).toBe(1);
});

test("[D5] what a wide task made is seen when it is done; a death costs a retry, and its input is fed again", () => {
  const table = new Table(1, 100);
  table.start(job("j", [tasks(0, splits(1)), wide(1, 0)]), 10);
  table.up(WIDE, { isWide: true });
  table.asks(1);
  table.handsOver(1, 3);
  table.done(1);
  readsAll(table, WIDE);
  table.asks(WIDE);
  table.handsOver(WIDE, 3);
  expect(table.wasTold("output")).toEqual([]);
  table.dies(WIDE);
  expect(table.ordered("spawnWide")).toBe(2);
  table.up(WIDE + 1, { isWide: true });
  expect(table.taskOf(WIDE + 1).handedOver).toEqual([]);
  expect(feedsTo(table, WIDE + 1)).toHaveLength(1);
  table.says(WIDE + 1, { type: "fed", task: table.taskOf(WIDE + 1).id });
  table.asks(WIDE + 1);
  table.handsOver(WIDE + 1, 3);
  expect(table.wasTold("output")).toEqual([]);
  table.done(WIDE + 1);
  expect(table.wasTold("output").map(({ slice }) => slice.end - slice.start)).toEqual([3]);
  table.program({ type: "release", blocks: table.wasTold("output").map(({ slice }) => slice.block.id) });
  expect(table.scheduler.ledger.live).toBe(0);
  expect(table.wasTold("finished")).toHaveLength(1);
});

test("[D1] what a wide task has read goes to disk for what flows, before any of that does", () => {
  const table = new Table(1, 4);
  table.start(job("j", [tasks(0, splits(8)), wide(1, 0)]), 10);
  table.up(WIDE, { isWide: true });
  for (let i = 0; i < 6; i++) {
    if (!table.asks(1)) table.diskWrites();
    table.handsOver(1);
    readsAll(table, WIDE);
    table.done(1);
  }
  expect(table.spilled.length).toBeGreaterThan(0);
  expect(table.wasTold("failed")).toEqual([]);
});

test("[A9] the rows of each partition meet in one task, once all producers have ended", () => {
  const table = new Table(1, 100);
  const scattered = { sink: { kind: "blocks", targetBytes: PAGE, minBytes: false, scatter: 3 } } as const;
  const gather = { kind: "partitions", count: 3 } as const;
  table.start(job("j", [tasks(0, splits(1), scattered), tasks(1, fed(gather, [0]), { sink: { kind: "count" } })]));
  const { id } = table.taskOf(1);
  for (const partition of [0, 2, 2]) {
    table.asks(1);
    const room = table.toWorker(1).findLast((one) => one.type === "reserved");
    if (room?.type !== "reserved") throw new Error("no room");
    table.says(1, { type: "output", task: id, range: room.range, length: PAGE, rows: 1, checksum: 0, partition });
  }
  expect(table.tasksOf(1)).toEqual(["j/0/0"]);
  table.done(1);
  expect(table.tasksOf(1).at(-1)).toBe("j/1/0");
  expect(feedsTo(table, 1)).toHaveLength(1);
  expect(endsTo(table, 1)).toBe(1);
  table.says(1, { type: "fed", task: table.taskOf(1).id });
  table.done(1, 1);
  // Of the empty partition there is no task.
  expect(feedsTo(table, 1).at(-1)?.slices).toHaveLength(2);
  table.says(1, { type: "fed", task: table.taskOf(1).id });
  table.done(1, 2);
  expect(table.wasTold("finished")[0]?.rows).toBe(3);
  expect(table.scheduler.ledger.live).toBe(0);
});

test("[O4] the one task over all rows begins when all are there, and reads some of them at a time", () => {
  const table = new Table(1, 100);
  const whole = { kind: "whole" } as const;
  table.start(job("j", [tasks(0, splits(1)), tasks(1, fed(whole, [0]), { sink: { kind: "count" } })]));
  for (let i = 0; i < 3; i++) {
    table.asks(1, 20);
    table.handsOver(1, 1, 20);
  }
  expect(table.tasksOf(1)).toEqual(["j/0/0"]);
  table.done(1);
  expect(table.tasksOf(1).at(-1)).toBe("j/1/0");
  const { id } = table.taskOf(1);
  for (let read = 1; read < 3; read++) {
    expect(feedsTo(table, 1)).toHaveLength(read);
    table.says(1, { type: "fed", task: id });
  }
  expect(endsTo(table, 1)).toBe(1);
});

test("[A6] of no blocks there is no task over all rows", () => {
  const table = new Table(1, 100);
  table.start(job("j", [tasks(0, splits(1)), tasks(1, fed({ kind: "whole" }, [0]), { sink: { kind: "count" } })]));
  table.done(1);
  expect(table.tasksOf(1)).toEqual(["j/0/0"]);
  expect(table.wasTold("finished")[0]?.rows).toBe(0);
});

test("[A9] equal parts are cut where blocks are not", () => {
  const table = new Table(1, 100);
  const parts = { kind: "parts", count: 3 } as const;
  table.start(job("j", [tasks(0, splits(1)), tasks(1, fed(parts, [0]), { sink: { kind: "count" } })]));
  for (const rows of [5, 4]) {
    table.asks(1);
    table.handsOver(1, rows);
  }
  table.done(1);
  const seen: (readonly [number, number])[][] = [];
  for (let i = 0; i < 3; i++) {
    seen.push(
      feedsTo(table, 1)
        .at(-1)
        ?.slices.map(({ start, end }) => [start, end] as const) ?? [],
    );
    table.says(1, { type: "fed", task: table.taskOf(1).id });
    table.done(1, 3);
  }
  expect(seen).toEqual([
    [[0, 3]],
    [
      [3, 5],
      [0, 1],
    ],
    [[1, 4]],
  ]);
  expect(table.scheduler.ledger.live).toBe(0);
});

test("[D1] what the wide kernel was lent comes back where nothing could go on without it", () => {
  const table = new Table(1, 12, { pool: { memory: 16 * PAGE, overhead: 0, worker: 0, threads: 1 } });
  table.start(job("j", [tasks(0, splits(4)), wide(1, 0)]), 10);
  table.up(WIDE, { isWide: true });
  expect(table.asks(1, 1)).toBe(true);
  table.handsOver(1);
  expect(table.scheduler.ledger.lent).toBeGreaterThan(0);
  // Less than that is left of the store, and the kernel waits for this block.
  readsAll(table, WIDE);
  expect(table.asks(1, 9)).toBe(true);
  expect(table.scheduler.ledger.lent).toBe(0);
});

const MIB = 2 ** 20;
const POOL = { memory: 2048 * MIB, overhead: 64 * MIB, worker: 112 * MIB, threads: 2 };

test("[D1] alone, the wide kernel is lent what idle workers have, who end, and what the store does not hold", () => {
  const table = new Table(2, (600 * MIB) / PAGE, { pool: POOL });
  table.tell({ type: "open" });
  table.start(job("j", [wide(0)]), 1);
  table.up(WIDE, { isWide: true });
  expect(table.ordered("dismiss")).toBe(2);
  for (const worker of [1, 2]) table.dies(worker, { exitCode: 0, cause: "asked" });
  expect(table.ordered("spawn")).toBe(0);
  const { lent, capacity } = table.scheduler.ledger;
  expect(lent).toBeGreaterThan(0);
  expect(lent).toBeLessThanOrEqual(capacity * 0.75);
  const memory = leasesTo(table, WIDE).at(-1)?.memory ?? 0;
  expect(memory).toBeGreaterThan(900 * MIB);
  expect(memory * 1.35).toBeLessThan(POOL.memory - POOL.overhead - (capacity - lent));
  table.done(WIDE);
  expect(table.scheduler.ledger.lent).toBe(0);
  expect(table.ordered("spawn")).toBe(2);
});

test("[D1] a kernel that runs out of memory is tried again with one thread, then with nearly all there is", () => {
  const table = new Table(1, (600 * MIB) / PAGE, { pool: POOL });
  table.start(job("j", [wide(0)]), 1);
  table.up(WIDE, { isWide: true });
  const error = { name: "KernelMemoryError", message: "too much", stack: null, fields: {} };
  const fails = () => table.says(WIDE, { type: "failed", task: table.taskOf(WIDE).id, error });
  expect(leasesTo(table, WIDE).at(-1)?.threads).toBe(2);
  const first = leasesTo(table, WIDE).at(-1)?.memory ?? 0;
  fails();
  expect(leasesTo(table, WIDE).at(-1)?.threads).toBe(1);
  expect(table.wasTold("failed")).toEqual([]);
  fails();
  expect(leasesTo(table, WIDE).at(-1)?.memory).toBeGreaterThan(first);
  // More of the store than the three quarters that are lent before, where no block is under way.
  expect(table.scheduler.ledger.lent).toBeGreaterThan(table.scheduler.ledger.capacity * 0.9);
  fails();
  const [failed] = table.wasTold("failed");
  expect(failed?.error.name).toBe("OutOfMemoryError");
  expect(failed?.error.message).toContain("cause: the kernel ran out of memory");
  expect(failed?.error.message).toContain("too much");
  expect(failed?.stats.operators[0]).toMatchObject({ retries: 0, oomRetries: 2 });
});

test("[D1] a fed task whose function is on disk waits for it like any other", () => {
  const table = new Table(1, 6);
  table.put(1);
  const parts = { kind: "parts", count: 1 } as const;
  table.start(job("j", [tasks(0, splits(1)), tasks(1, fed(parts, [0]), { isClass: false, sink: { kind: "count" } })]));
  for (let i = 0; i < 9; i++) {
    if (!table.asks(1)) table.diskWrites();
    table.handsOver(1);
  }
  expect(table.spilled).toContain(1);
  table.done(1);
  expect(table.wasTold("failed")).toEqual([]);
  table.diskWrites();
  table.diskReads();
  expect(table.tasksOf(1).at(-1)).toBe("j/1/0");
});

test("[D5] a wide kernel that the system kills comes back with less for its buffers, and so more beside them", () => {
  const table = new Table(1, (600 * MIB) / PAGE, { pool: POOL });
  table.start(job("j", [wide(0)]), 1);
  table.up(WIDE, { isWide: true });
  const first = leasesTo(table, WIDE).at(-1)?.memory ?? 0;
  table.tell({ type: "workerGone", worker: WIDE as WorkerId, end: ended({ signal: "SIGKILL" }) });
  table.up(WIDE + 1, { isWide: true });
  expect(leasesTo(table, WIDE + 1).at(-1)).toEqual({ memory: Math.floor(first / 4), threads: 1 });
  table.done(WIDE + 1);
  table.start(job("k", [wide(0)]), 1);
  expect(leasesTo(table, WIDE + 1).at(-1)?.threads).toBe(2);
});

test("[O4] a second block is fed ahead only where both leave room for what the task makes", () => {
  const repartitioned = (pagesOfABlock: number) => {
    const table = new Table(1, 100);
    table.start(job("j", [tasks(0, splits(1)), tasks(1, fed({ kind: "parts", count: 1 }, [0]))]), 10);
    for (let i = 0; i < 2; i++) {
      table.asks(1, pagesOfABlock);
      table.handsOver(1, 3, pagesOfABlock);
    }
    table.done(1);
    return feedsTo(table, 1).length;
  };
  expect([repartitioned(12), repartitioned(13)]).toEqual([2, 1]);
});
