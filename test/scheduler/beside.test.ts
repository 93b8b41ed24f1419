/**
 * A job that stands still while another one's function works without an end: how it gets a worker, each step shown
 * alone.
 */
import { describe, expect, test } from "vitest";
import type { JobSpec } from "../../src/protocol/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { from, ScriptedSession, splits } from "./scripted-session.ts";

const GRACE = 250;
/** Of a producer's blocks that wait, with two workers. */
const BOUND = 6;

const endless: JobSpec = job("endless", [tasks(0, splits(1))]);
const piped = (name: string, count = 1): JobSpec => job(name, [tasks(0, splits(count)), tasks(1, from(0))]);

function passes(session: ScriptedSession, milliseconds: number): void {
  session.now += milliseconds;
  session.tell({ type: "tick" });
}

const cancels = (session: ScriptedSession, worker: number) =>
  session.toWorker(worker).filter(({ type }) => type === "cancel").length;

/** The worker's task makes blocks until it has to wait for room. */
function fills(session: ScriptedSession, worker: number): void {
  for (let blocks = 0; blocks < BOUND; blocks++) {
    expect(session.asks(worker)).toBe(true);
    session.handsOver(worker);
  }
  expect(session.asks(worker)).toBe(false);
}

/**
 * The first worker has the endless function; the second a producer that waits, with a consumer that waits for a worker.
 */
function stuck(more: ConstructorParameters<typeof ScriptedSession>[2] = {}, pages = 100): ScriptedSession {
  const session = new ScriptedSession(2, pages, more);
  session.start(endless, 10);
  session.start(piped("piped"), 10);
  expect([session.taskOf(1).job, session.taskOf(2).job]).toEqual(["endless", "piped"]);
  fills(session, 2);
  return session;
}

describe("[O4] a job whose producer waits for room, and whose consumer for a worker that an endless function has", () => {
  test("gets one worker more, soon and only one, and goes on in it", () => {
    const session = stuck();
    expect(session.scheduler.alarmAt).toBeLessThanOrEqual(GRACE);
    passes(session, GRACE - 1);
    expect(session.ordered("spawn")).toBe(0);
    passes(session, 1);
    expect(session.ordered("spawn")).toBe(1);
    session.up(3);
    expect(session.tasksOf(3)).toEqual(["piped/1/0"]);
    passes(session, 10 * GRACE);
    expect(session.ordered("spawn")).toBe(1);
    // What it has taken makes room for the producer, which was not disturbed.
    expect(session.grantsTo(2)).toBe(BOUND + 1);
    expect(cancels(session, 2)).toBe(0);
    // Nor does the next one of it wait, though the session has no core for it.
    session.handsOver(2);
    expect(session.asks(2)).toBe(false);
    session.done(3);
    expect(session.tasksOf(3)).toEqual(["piped/1/0", "piped/1/1"]);
  });

  test("gets none while its tasks go on, or where its producer has waited only for moments", () => {
    const session = new ScriptedSession(2, 100);
    session.start(endless, 10);
    session.start(piped("piped"), 10);
    for (let blocks = 0; blocks < BOUND; blocks++) {
      passes(session, 10 * GRACE);
      expect(session.asks(2)).toBe(true);
      session.handsOver(2);
    }
    passes(session, 10 * GRACE);
    expect(session.asks(2)).toBe(false);
    passes(session, GRACE - 1);
    expect(session.ordered("spawn")).toBe(0);
  });

  test("gets none where all workers compute: then it waits for its turn", () => {
    const session = new ScriptedSession(2, 100);
    session.start(job("busy", [tasks(0, splits(2))]), 10);
    session.start(piped("piped"), 10);
    passes(session, 100 * GRACE);
    expect(session.ordered("spawn")).toBe(0);
    expect(cancels(session, 1) + cancels(session, 2)).toBe(0);
  });

  test("where there can be no more workers, the producer may make more for as long as there is room", () => {
    const session = stuck({ extraWorkers: 0 });
    passes(session, GRACE);
    expect(session.ordered("spawn")).toBe(0);
    expect(session.grantsTo(2)).toBe(BOUND + 1);
    expect(cancels(session, 2)).toBe(0);
  });

  test("and where there is none, it gives its worker up, and is run again when what it made is read", () => {
    const session = new ScriptedSession(2, 9, { extraWorkers: 0 });
    session.start(endless, 10);
    session.start(piped("piped"), 10);
    while (session.asks(2)) session.handsOver(2);
    const bound = session.grantsTo(2);
    for (let blocks = bound; blocks < 7; blocks++) {
      passes(session, GRACE);
      session.handsOver(2);
      expect(session.asks(2)).toBe(false);
    }
    passes(session, GRACE);
    expect([session.grantsTo(2), cancels(session, 2)]).toEqual([7, 1]);
    session.says(2, { type: "cancelled", task: session.taskOf(2).id });
    const [, ...later] = session.tasksOf(2);
    expect(later).toEqual(["piped/1/0"]);
    while (session.taskOf(2).operator === 1) session.done(2);
    expect(session.taskOf(2)).toMatchObject({ id: "piped/0/0", attempt: 0 });
    expect(session.taskOf(2).handedOver).toHaveLength(7);
    session.done(2);
    while (session.wasTold("finished").length === 0) session.done(2);
    expect(session.wasTold("finished").map((one) => one.job)).toEqual(["piped"]);
    expect(cancels(session, 1)).toBe(0);
  });
});

describe("[O4] a job without a worker, beside one that keeps them for tasks that wait behind its endless function", () => {
  /** The slow job's consumer is the endless one; its producer keeps the second worker. */
  function hogged(more: ConstructorParameters<typeof ScriptedSession>[2] = {}): ScriptedSession {
    const session = new ScriptedSession(2, 100, more);
    const slow = job("slow", [tasks(0, splits(2)), tasks(1, from(0), { concurrency: { min: 1, max: 1 } })]);
    session.start(slow, 10);
    expect(session.asks(1)).toBe(true);
    session.handsOver(1);
    session.done(1);
    expect(session.tasksOf(1)).toEqual(["slow/0/0", "slow/1/0"]);
    fills(session, 2);
    session.start(job("other", [tasks(0, splits(1))]), 10);
    return session;
  }

  test("gets a worker more", () => {
    const session = hogged();
    passes(session, GRACE);
    expect(session.ordered("spawn")).toBe(1);
    session.up(3);
    expect(session.tasksOf(3)).toEqual(["other/0/0"]);
  });

  test("or the worker of one that waits, where there can be no more", () => {
    const session = hogged({ extraWorkers: 0 });
    passes(session, GRACE);
    expect([cancels(session, 1), cancels(session, 2)]).toEqual([0, 1]);
    session.says(2, { type: "cancelled", task: session.taskOf(2).id });
    expect(session.taskOf(2).id).toBe("other/0/0");
    session.done(2);
    expect(session.wasTold("finished").map((one) => one.job)).toEqual(["other"]);
    // There is still no room for what the other one would make.
    expect(session.tasksOf(2)).toEqual(["slow/0/1", "other/0/0"]);
    passes(session, 100 * GRACE);
    expect(cancels(session, 2)).toBe(1);
  });
});

test("[O4] of many that wait only one at a time gives its worker up", () => {
  const session = new ScriptedSession(4, 400, { extraWorkers: 0 });
  session.start(job("slow", [tasks(0, splits(4)), tasks(1, from(0), { concurrency: { min: 1, max: 1 } })]), 10);
  expect(session.asks(1)).toBe(true);
  session.handsOver(1);
  session.done(1);
  expect(session.taskOf(1).id).toBe("slow/1/0");
  while (session.asks(2)) session.handsOver(2);
  expect([session.asks(3), session.asks(4)]).toEqual([false, false]);
  session.start(job("other", [tasks(0, splits(1))]), 10);
  passes(session, GRACE);
  expect(cancels(session, 2) + cancels(session, 3) + cancels(session, 4)).toBe(1);
});

test("[O4] an instance moves away from a worker where another job's function does not end, but not within seconds", () => {
  const session = new ScriptedSession(2, 100);
  session.put();
  const instance = tasks(1, from(0), { isClass: true, concurrency: { min: 1, max: 1 } });
  session.start(job("model", [tasks(0, splits(1)), instance]), 10);
  const [maker, holder] = session.tasksOf(1).length > 0 ? [1, 2] : [2, 1];
  session.asks(maker);
  session.handsOver(maker);
  expect(session.tasksOf(holder)).toEqual(["model/1/0"]);
  session.done(holder);
  session.start(endless, 10);
  expect(session.taskOf(holder).job).toBe("endless");
  session.asks(maker);
  session.handsOver(maker);
  session.done(maker);
  const retired = () => session.toWorker(holder).filter(({ type }) => type === "retire").length;
  passes(session, 9_000);
  expect(retired()).toBe(0);
  expect(session.scheduler.alarmAt).toBe(10_000);
  passes(session, 1_000);
  expect(retired()).toBe(1);
  session.says(holder, { type: "retired", job: session.taskOf(maker).job, operator: 1, error: null });
  expect(session.tasksOf(maker)).toEqual(["model/0/0", "model/1/1"]);
});
