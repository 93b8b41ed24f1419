/** Whose turn it is in the wide kernel, and who stands back for whom, each decision shown alone. */
import { expect, test } from "vitest";
import type { JobSpec } from "../../src/protocol/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { ScriptedSession, splits } from "./scripted-session.ts";

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

const feedsTo = (session: ScriptedSession, worker: number) =>
  session.toWorker(worker).flatMap((one) => (one.type === "feed" ? [one] : []));
const cancels = (session: ScriptedSession) => session.toWorker(WIDE).filter(({ type }) => type === "cancel").length;

/** The kernel has read all that it was sent since it was last asked. */
function reads(session: ScriptedSession, messages = 1): void {
  for (let i = 0; i < messages; i++) session.says(WIDE, { type: "fed", task: session.taskOf(WIDE).id });
}

function makesBlock(session: ScriptedSession, worker = 1, rows = 1, pages = 1): void {
  expect(session.asks(worker, pages)).toBe(true);
  session.handsOver(worker, rows, pages);
}

function passes(session: ScriptedSession, milliseconds: number): void {
  session.now += milliseconds;
  session.tell({ type: "tick" });
}

const answers = (session: ScriptedSession) => session.says(WIDE, { type: "cancelled", task: session.taskOf(WIDE).id });

/** A job of three slow tasks has the kernel, has read one block, and waits for the next. */
function slowInKernel(more: ConstructorParameters<typeof ScriptedSession>[2] = {}, pages = 100): ScriptedSession {
  const session = new ScriptedSession(1, pages, more);
  session.start(gatheringJob("slow", 3), 10);
  session.up(WIDE, { isWide: true });
  makesBlock(session, 1, 3);
  reads(session);
  return session;
}

test("[A9] a wide task that waits for its producers stands back for one that has all of its input, and is fed again after it", () => {
  const session = slowInKernel();
  session.start(readyJob("ready"), 10);
  expect(session.scheduler.alarmAt).toBeLessThanOrEqual(GRACE + 10);
  passes(session, GRACE - 1);
  expect(cancels(session)).toBe(0);
  passes(session, 10);
  expect(cancels(session)).toBe(1);
  answers(session);
  expect(session.tasksOf(WIDE)).toEqual(["slow/1/0", "ready/0/0"]);
  // Meanwhile its producers go on.
  session.done(1);
  makesBlock(session, 1, 4);
  session.done(1);
  session.done(WIDE);
  expect(session.wasTold("finished").map((one) => one.job)).toEqual(["ready"]);
  expect(session.tasksOf(WIDE)).toEqual(["slow/1/0", "ready/0/0", "slow/1/0"]);
  const again = feedsTo(session, WIDE).slice(1);
  expect(again.flatMap(({ slices }) => slices.map(({ start, end }) => end - start))).toEqual([3, 4]);
  reads(session, again.length);
  session.done(1);
  expect(session.toWorker(WIDE).at(-1)?.type).toBe("feedEnd");
  session.done(WIDE, 7);
  expect(session.wasTold("finished").map((one) => one.job)).toEqual(["ready", "slow"]);
  expect(session.wasTold("finished")[1]?.stats.operators[1]).toMatchObject({ retries: 0 });
  expect(session.scheduler.ledger.live).toBe(0);
});

test("[A9] a kernel that is about to stand back has time to finish what it puts into a session, then it is killed", () => {
  const session = slowInKernel();
  session.start(readyJob("ready"), 10);
  passes(session, GRACE + 10);
  passes(session, 2_900);
  expect(session.ordered("kill")).toBe(0);
  passes(session, 200);
  expect(session.ordered("kill")).toBe(1);
  session.dies(WIDE, { signal: "SIGKILL" });
  session.up(WIDE, { isWide: true });
  expect(session.tasksOf(WIDE)).toEqual(["slow/1/0", "ready/0/0"]);
});

test("[A9] it keeps the kernel for longer the more would have to be read again", () => {
  const session = slowInKernel({}, 4 * 25_600);
  makesBlock(session, 1, 1, 25_600);
  reads(session);
  session.start(readyJob("ready"), 10);
  passes(session, GRACE + 350);
  expect(cancels(session)).toBe(0);
  // 100 MiB, at 256 MiB a second.
  passes(session, 60);
  expect(cancels(session)).toBe(1);
});

test("[A9] it stands back for nobody once its input is complete", () => {
  const session = slowInKernel();
  for (let i = 0; i < 3; i++) session.done(1);
  session.start(readyJob("ready"), 10);
  passes(session, 10_000);
  expect(cancels(session)).toBe(0);
  expect(session.scheduler.alarmAt ?? Number.POSITIVE_INFINITY).toBeGreaterThan(session.now);
});

test("[A9] it does not stand back for one that has a part of its input, as it has itself", () => {
  const session = slowInKernel();
  session.start(gatheringJob("other", 2), 10);
  session.done(1);
  expect(session.taskOf(1).job).toBe("other");
  makesBlock(session);
  passes(session, 10_000);
  expect(cancels(session)).toBe(0);
});

test("[A9] nobody stands back for a job that is gone", () => {
  const session = slowInKernel();
  session.start(readyJob("ready"), 10);
  session.program({ type: "cancel", job: readyJob("ready").id });
  passes(session, 10_000);
  expect(cancels(session)).toBe(0);
});

test("[A9] a job without any input yet does not keep the idle kernel from others", () => {
  const session = new ScriptedSession(1, 100);
  session.start(gatheringJob("slow", 1), 10);
  session.up(WIDE, { isWide: true });
  session.start(readyJob("ready"), 10);
  expect(session.tasksOf(WIDE)).toEqual(["ready/0/0"]);
});

test("[O4] producers are not held up while another job's task has the kernel: what they make goes to disk", () => {
  const session = new ScriptedSession(2, 20);
  session.start(readyJob("long"), 10);
  session.up(WIDE, { isWide: true });
  session.start(gatheringJob("next", 1), 10);
  for (let i = 0; i < 60; i++) {
    if (!session.asks(1)) session.diskWrites();
    session.handsOver(1);
  }
  expect(session.spilled.length).toBeGreaterThan(30);
  session.done(1);
  session.done(WIDE);
  expect(session.tasksOf(WIDE)).toEqual(["long/0/0", "next/1/0"]);
  expect(session.wasTold("failed")).toEqual([]);
});

test("[O4] nor by what had come before it took the kernel", () => {
  const session = new ScriptedSession(2, 100);
  session.start(gatheringJob("slow", 3), 10);
  session.up(WIDE, { isWide: true });
  // The kernel reads none of these, and the other worker computes.
  while (session.asks(1)) session.handsOver(1);
  const before = session.grantsTo(1);
  session.start(readyJob("ready"), 10);
  passes(session, GRACE + 10);
  expect(session.grantsTo(1)).toBe(before);
  answers(session);
  expect(session.tasksOf(WIDE).at(-1)).toBe("ready/0/0");
  expect(session.grantsTo(1)).toBe(before + 1);
});

test("[O4] nor while another operator of the job needs the kernel first: what waits for both goes to disk", () => {
  const session = new ScriptedSession(2, 20);
  // The second worker computes for the operator that needs the kernel first; the last operator needs that one, too.
  session.start(job("both", [tasks(0, splits(1)), wide(1, 0), tasks(2, splits(1)), wide(3, 1, 2)]), 10);
  session.up(WIDE, { isWide: true });
  const [ofFirst, ofSecond] = session.taskOf(1).operator === 0 ? [1, 2] : [2, 1];
  expect(session.taskOf(ofFirst).operator).toBe(0);
  for (let i = 0; i < 60; i++) {
    if (!session.asks(ofSecond)) session.diskWrites();
    session.handsOver(ofSecond);
  }
  expect(session.spilled.length).toBeGreaterThan(30);
  expect(session.wasTold("failed")).toEqual([]);
});

test("[O4] stats() says how long an operator with all of its input has waited for the wide kernel", () => {
  const session = slowInKernel();
  session.start(readyJob("ready"), 10);
  passes(session, GRACE + 10);
  session.now += 40;
  answers(session);
  passes(session, 1_000);
  session.done(WIDE);
  expect(session.wasTold("finished")[0]?.stats.operators[0]?.heldBack).toEqual({ WideKernelBackpressurePolicy: 0.3 });
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
  const session = new ScriptedSession(1, 100);
  session.start(twoSides(1, 0), 10);
  session.up(WIDE, { isWide: true });
  expect(session.taskOf(1).operator).toBe(0);
  expect(session.tasksOf(WIDE)).toEqual(["both/3/0"]);
});

test("[A9] a job whose workers are with another one's endless functions gets on with its wide operator that has all rows", () => {
  const session = new ScriptedSession(1, 100, { extraWorkers: 0 });
  session.start(job("endless", [tasks(0, splits(1))]), 10);
  session.start(twoSides(1, 0), 10);
  session.up(WIDE, { isWide: true });
  expect(session.taskOf(1).job).toBe("endless");
  expect(session.tasksOf(WIDE)).toEqual(["both/3/0"]);
});

test("[A9] a wide task whose producers are not next in plan order stands back for one of its job that is", () => {
  const session = new ScriptedSession(2, 100);
  session.start(twoSides(2, 1), 10);
  session.up(WIDE, { isWide: true });
  const [ofFirst, ofSecond] = session.taskOf(1).operator === 0 ? [1, 2] : [2, 1];
  expect(session.taskOf(ofFirst).operator).toBe(0);
  makesBlock(session, ofFirst);
  expect(session.tasksOf(WIDE)).toEqual(["both/1/0"]);
  reads(session);
  session.done(ofSecond);
  passes(session, GRACE - 1);
  expect(cancels(session)).toBe(0);
  passes(session, 100);
  expect(cancels(session)).toBe(1);
  answers(session);
  expect(session.tasksOf(WIDE)).toEqual(["both/1/0", "both/3/0"]);
  session.done(WIDE);
  expect(session.tasksOf(WIDE)).toEqual(["both/1/0", "both/3/0", "both/1/0"]);
});

test("[A9] a wide operator downstream of another one does not begin before that has ended", () => {
  const session = new ScriptedSession(1, 100);
  const chain = job("chain", [tasks(0, splits(1)), wide(1, 0), tasks(2, splits(0)), wide(3, 2, 1)]);
  session.start(chain, 10);
  session.up(WIDE, { isWide: true });
  expect(session.tasksOf(WIDE)).toEqual([]);
  session.done(1);
  expect(session.tasksOf(WIDE)).toEqual(["chain/1/0"]);
});

const MIB = 2 ** 20;
const POOL = { memory: 2048 * MIB, overhead: 64 * MIB, worker: 112 * MIB, threads: 2 };
const leasesTo = (session: ScriptedSession) =>
  session.toWorker(WIDE).flatMap((one) => (one.type === "lease" ? [one.lease] : []));

test("[D1] what a task has learned of the kernel's memory is its own: who goes first begins with what all begin with", () => {
  const session = slowInKernel({ pool: POOL }, (600 * MIB) / PAGE);
  const error = { name: "KernelMemoryError", message: "too much", stack: null, fields: {} };
  session.says(WIDE, { type: "failed", task: session.taskOf(WIDE).id, error });
  passes(session, 1_000);
  expect(session.tasksOf(WIDE)).toEqual(["slow/1/0", "slow/1/0"]);
  expect(leasesTo(session).at(-1)?.threads).toBe(1);
  session.start(readyJob("ready"), 10);
  passes(session, GRACE + 10);
  answers(session);
  expect(session.tasksOf(WIDE).at(-1)).toBe("ready/0/0");
  expect(leasesTo(session).at(-1)?.threads).toBe(2);
  session.done(WIDE);
  expect(session.tasksOf(WIDE).at(-1)).toBe("slow/1/0");
  expect(leasesTo(session).at(-1)?.threads).toBe(1);
});
