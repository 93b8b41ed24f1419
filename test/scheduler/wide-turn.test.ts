/** Whose turn it is in the wide kernel, and who stands back for whom, each decision shown alone. */
import { expect, test } from "vitest";
import type { JobSpec } from "../../src/protocol/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { splits, Table } from "./table.ts";

const WIDE = 9;
const GRACE = 250;

const wide = (id: number, ...operators: number[]) =>
  tasks(
    id,
    { kind: "fed", tables: operators.length === 0 ? [] : [{ operators, columns: [] }], gather: { kind: "all" } },
    { place: "wide" },
  );
/** A function of so many tasks, and all rows of it in one. */
const gatheringJob = (name: string, count: number): JobSpec => job(name, [tasks(0, splits(count)), wide(1, 0)]);
const readyJob = (name: string): JobSpec => job(name, [wide(0)]);

const feedsTo = (table: Table, worker: number) =>
  table.toWorker(worker).flatMap((one) => (one.type === "feed" ? [one] : []));
const cancels = (table: Table) => table.toWorker(WIDE).filter(({ type }) => type === "cancel").length;

/** The kernel has read all that it was sent since it was last asked. */
function reads(table: Table, messages = 1): void {
  for (let i = 0; i < messages; i++) table.says(WIDE, { type: "fed", task: table.taskOf(WIDE).id });
}

function makesBlock(table: Table, worker = 1, rows = 1, pages = 1): void {
  expect(table.asks(worker, pages)).toBe(true);
  table.handsOver(worker, rows, pages);
}

function passes(table: Table, milliseconds: number): void {
  table.now += milliseconds;
  table.tell({ type: "tick" });
}

const answers = (table: Table) => table.says(WIDE, { type: "cancelled", task: table.taskOf(WIDE).id });

/** A job of three slow tasks has the kernel, has read one block, and waits for the next. */
function slowInKernel(more: ConstructorParameters<typeof Table>[2] = {}, pages = 100): Table {
  const table = new Table(1, pages, more);
  table.start(gatheringJob("slow", 3), 10);
  table.up(WIDE, { isWide: true });
  makesBlock(table, 1, 3);
  reads(table);
  return table;
}

test("[A9] a wide task that waits for its producers stands back for one that has all of its input, and is fed again after it", () => {
  const table = slowInKernel();
  table.start(readyJob("ready"), 10);
  expect(table.scheduler.alarmAt).toBeLessThanOrEqual(GRACE + 10);
  passes(table, GRACE - 1);
  expect(cancels(table)).toBe(0);
  passes(table, 10);
  expect(cancels(table)).toBe(1);
  answers(table);
  expect(table.tasksOf(WIDE)).toEqual(["slow/1/0", "ready/0/0"]);
  // Meanwhile its producers go on.
  table.done(1);
  makesBlock(table, 1, 4);
  table.done(1);
  table.done(WIDE);
  expect(table.wasTold("finished").map((one) => one.job)).toEqual(["ready"]);
  expect(table.tasksOf(WIDE)).toEqual(["slow/1/0", "ready/0/0", "slow/1/0"]);
  const again = feedsTo(table, WIDE).slice(1);
  expect(again.flatMap(({ slices }) => slices.map(({ start, end }) => end - start))).toEqual([3, 4]);
  reads(table, again.length);
  table.done(1);
  expect(table.toWorker(WIDE).at(-1)?.type).toBe("feedEnd");
  table.done(WIDE, 7);
  expect(table.wasTold("finished").map((one) => one.job)).toEqual(["ready", "slow"]);
  expect(table.wasTold("finished")[1]?.stats.operators[1]).toMatchObject({ retries: 0 });
  expect(table.scheduler.ledger.live).toBe(0);
});

test("[A9] a kernel that is about to stand back has time to finish what it puts into a table, then it is killed", () => {
  const table = slowInKernel();
  table.start(readyJob("ready"), 10);
  passes(table, GRACE + 10);
  passes(table, 2_900);
  expect(table.ordered("kill")).toBe(0);
  passes(table, 200);
  expect(table.ordered("kill")).toBe(1);
  table.dies(WIDE, { signal: "SIGKILL" });
  table.up(WIDE, { isWide: true });
  expect(table.tasksOf(WIDE)).toEqual(["slow/1/0", "ready/0/0"]);
});

test("[A9] it keeps the kernel for longer the more would have to be read again", () => {
  const table = slowInKernel({}, 4 * 25_600);
  makesBlock(table, 1, 1, 25_600);
  reads(table);
  table.start(readyJob("ready"), 10);
  passes(table, GRACE + 350);
  expect(cancels(table)).toBe(0);
  // 100 MiB, at 256 MiB a second.
  passes(table, 60);
  expect(cancels(table)).toBe(1);
});

test("[A9] it stands back for nobody once its input is complete", () => {
  const table = slowInKernel();
  for (let i = 0; i < 3; i++) table.done(1);
  table.start(readyJob("ready"), 10);
  passes(table, 10_000);
  expect(cancels(table)).toBe(0);
  expect(table.scheduler.alarmAt ?? Number.POSITIVE_INFINITY).toBeGreaterThan(table.now);
});

test("[A9] it does not stand back for one that has a part of its input, as it has itself", () => {
  const table = slowInKernel();
  table.start(gatheringJob("other", 2), 10);
  table.done(1);
  expect(table.taskOf(1).job).toBe("other");
  makesBlock(table);
  passes(table, 10_000);
  expect(cancels(table)).toBe(0);
});

test("[A9] nobody stands back for a job that is gone", () => {
  const table = slowInKernel();
  table.start(readyJob("ready"), 10);
  table.program({ type: "cancel", job: readyJob("ready").id });
  passes(table, 10_000);
  expect(cancels(table)).toBe(0);
});

test("[A9] a job without any input yet does not keep the idle kernel from others", () => {
  const table = new Table(1, 100);
  table.start(gatheringJob("slow", 1), 10);
  table.up(WIDE, { isWide: true });
  table.start(readyJob("ready"), 10);
  expect(table.tasksOf(WIDE)).toEqual(["ready/0/0"]);
});

test("[O4] producers are not held up while another job's task has the kernel: what they make goes to disk", () => {
  const table = new Table(2, 20);
  table.start(readyJob("long"), 10);
  table.up(WIDE, { isWide: true });
  table.start(gatheringJob("next", 1), 10);
  for (let i = 0; i < 60; i++) {
    if (!table.asks(1)) table.diskWrites();
    table.handsOver(1);
  }
  expect(table.spilled.length).toBeGreaterThan(30);
  table.done(1);
  table.done(WIDE);
  expect(table.tasksOf(WIDE)).toEqual(["long/0/0", "next/1/0"]);
  expect(table.wasTold("failed")).toEqual([]);
});

test("[O4] nor by what had come before it took the kernel", () => {
  const table = new Table(2, 100);
  table.start(gatheringJob("slow", 3), 10);
  table.up(WIDE, { isWide: true });
  // The kernel reads none of these, and the other worker computes.
  while (table.asks(1)) table.handsOver(1);
  const before = table.grantsTo(1);
  table.start(readyJob("ready"), 10);
  passes(table, GRACE + 10);
  expect(table.grantsTo(1)).toBe(before);
  answers(table);
  expect(table.tasksOf(WIDE).at(-1)).toBe("ready/0/0");
  expect(table.grantsTo(1)).toBe(before + 1);
});

test("[O4] stats() says how long an operator with all of its input has waited for the wide kernel", () => {
  const table = slowInKernel();
  table.start(readyJob("ready"), 10);
  passes(table, GRACE + 10);
  table.now += 40;
  answers(table);
  passes(table, 1_000);
  table.done(WIDE);
  expect(table.wasTold("finished")[0]?.stats.operators[0]?.heldBack).toEqual({ WideKernelBackpressurePolicy: 0.3 });
});

/** All rows of two wide operators, of the second one first: what reads for the first one is not next in plan order. */
const twoSides = (first: number, second: number): JobSpec =>
  job("both", [
    tasks(0, splits(first)),
    wide(1, 0),
    tasks(2, splits(second)),
    wide(3, 2),
    tasks(
      4,
      {
        kind: "fed",
        tables: [
          { operators: [3], columns: [], ordered: true },
          { operators: [1], columns: [], ordered: true },
        ],
        gather: { kind: "all" },
      },
      { place: "wide" },
    ),
  ]);

test("[A9] an operator with all of its input does not wait for another one of its job that has none yet", () => {
  const table = new Table(1, 100);
  table.start(twoSides(1, 0), 10);
  table.up(WIDE, { isWide: true });
  expect(table.taskOf(1).operator).toBe(0);
  expect(table.tasksOf(WIDE)).toEqual(["both/3/0"]);
});

test("[A9] a job whose workers are with another one's endless functions gets on with its wide operator that has all rows", () => {
  const table = new Table(1, 100, { extraWorkers: 0 });
  table.start(job("endless", [tasks(0, splits(1))]), 10);
  table.start(twoSides(1, 0), 10);
  table.up(WIDE, { isWide: true });
  expect(table.taskOf(1).job).toBe("endless");
  expect(table.tasksOf(WIDE)).toEqual(["both/3/0"]);
});

test("[A9] a wide task whose producers are not next in plan order stands back for one of its job that is", () => {
  const table = new Table(2, 100);
  table.start(twoSides(2, 1), 10);
  table.up(WIDE, { isWide: true });
  const [ofFirst, ofSecond] = table.taskOf(1).operator === 0 ? [1, 2] : [2, 1];
  expect(table.taskOf(ofFirst).operator).toBe(0);
  makesBlock(table, ofFirst);
  expect(table.tasksOf(WIDE)).toEqual(["both/1/0"]);
  reads(table);
  table.done(ofSecond);
  passes(table, GRACE - 1);
  expect(cancels(table)).toBe(0);
  passes(table, 100);
  expect(cancels(table)).toBe(1);
  answers(table);
  expect(table.tasksOf(WIDE)).toEqual(["both/1/0", "both/3/0"]);
  table.done(WIDE);
  expect(table.tasksOf(WIDE)).toEqual(["both/1/0", "both/3/0", "both/1/0"]);
});

test("[A9] a wide operator downstream of another one does not begin before that has ended", () => {
  const table = new Table(1, 100);
  const chain = job("chain", [tasks(0, splits(1)), wide(1, 0), tasks(2, splits(0)), wide(3, 2, 1)]);
  table.start(chain, 10);
  table.up(WIDE, { isWide: true });
  expect(table.tasksOf(WIDE)).toEqual([]);
  table.done(1);
  expect(table.tasksOf(WIDE)).toEqual(["chain/1/0"]);
});

const MIB = 2 ** 20;
const POOL = { memory: 2048 * MIB, overhead: 64 * MIB, worker: 112 * MIB, threads: 2 };
const leasesTo = (table: Table) => table.toWorker(WIDE).flatMap((one) => (one.type === "lease" ? [one.lease] : []));

test("[D1] what a task has learned of the kernel's memory is its own: who goes first begins with what all begin with", () => {
  const table = slowInKernel({ pool: POOL }, (600 * MIB) / PAGE);
  const error = { name: "KernelMemoryError", message: "too much", stack: null, fields: {} };
  table.says(WIDE, { type: "failed", task: table.taskOf(WIDE).id, error });
  passes(table, 1_000);
  expect(table.tasksOf(WIDE)).toEqual(["slow/1/0", "slow/1/0"]);
  expect(leasesTo(table).at(-1)?.threads).toBe(1);
  table.start(readyJob("ready"), 10);
  passes(table, GRACE + 10);
  answers(table);
  expect(table.tasksOf(WIDE).at(-1)).toBe("ready/0/0");
  expect(leasesTo(table).at(-1)?.threads).toBe(2);
  table.done(WIDE);
  expect(table.tasksOf(WIDE).at(-1)).toBe("slow/1/0");
  expect(leasesTo(table).at(-1)?.threads).toBe(1);
});
