/** Workers that keep memory between tasks: trimmed, and replaced where that does not help. */

import { describe, expect, test } from "vitest";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { settings } from "../support/memory-settings.ts";
import { blocksOf, LIMIT, ScriptedSession, splits, working } from "./pressed.ts";

const asked = (session: ScriptedSession, worker = 1) =>
  session.toWorker(worker).filter(({ type }) => type === "trim").length;

const NO_HEAP = { used: 0, limit: PAGE };

const answers = (session: ScriptedSession, worker = 1, heap = NO_HEAP) =>
  session.says(worker, {
    type: "trimmed",
    request: null,
    report: { worker: worker as never, before: 9, after: 4, skipped: [] },
    heap,
  });

function passes(session: ScriptedSession, milliseconds: number): void {
  session.now += milliseconds;
  session.tell({ type: "tick" });
}

describe("a worker above pause between tasks", () => {
  test("[K6] is trimmed, and works on where that has helped", () => {
    const session = working(1, 0);
    session.reads({ 1: 81 * PAGE });
    expect(asked(session)).toBe(0);
    session.done(1);
    expect([asked(session), session.tasksOf(1).length]).toEqual([1, 1]);
    session.now += 100;
    answers(session);
    expect(session.happened("trimmed")).toMatchObject([{ worker: 1, returned: 5 }]);
    session.now += 100;
    session.reads({ 1: 30 * PAGE });
    expect([session.ordered("dismiss"), session.tasksOf(1).length]).toEqual([0, 2]);
  });

  test("[K6] is replaced where it has not; the job goes on in the next, and the user is told why, once", () => {
    const session = working(1, 0);
    session.reads({ 1: 20 * PAGE });
    session.reads({ 1: 81 * PAGE });
    session.done(1);
    session.now += 100;
    answers(session);
    expect(session.ordered("dismiss")).toBe(0);
    session.now += 100;
    session.reads({ 1: 80 * PAGE });
    expect(session.commands.filter(({ type }) => type === "dismiss")).toEqual([{ type: "dismiss", worker: 1 }]);
    const grown = /grown from 80\.0 KiB to 320 KiB over 1 task of op0: a leak .* or the allocator/;
    expect(session.happened("recycled")).toMatchObject([
      { worker: 1, pid: 1001, private: 80 * PAGE, why: expect.stringMatching(grown) },
    ]);
    const told = () => session.notices().filter((text) => text.includes("is replaced"));
    expect(told()).toHaveLength(1);
    expect(told()[0]).toMatch(/constructed again/);
    session.dies(1);
    session.up(2);
    expect(session.tasksOf(2)).toHaveLength(1);
    session.reads({ 2: 90 * PAGE });
    session.done(2);
    passes(session, 2_000);
    expect([session.ordered("dismiss"), told().length]).toEqual([2, 1]);
  });

  test("[K6] one that does not answer has given nothing back: replaced after two seconds", () => {
    const session = working(1, 0);
    session.reads({ 1: 81 * PAGE });
    session.done(1);
    passes(session, 1_999);
    expect(session.scheduler.alarmAt).toBe(2_000);
    expect(session.ordered("dismiss")).toBe(0);
    passes(session, 1);
    expect(session.ordered("dismiss")).toBe(1);
    expect(session.scheduler.alarmAt).toBeNull();
  });

  test("[K6] all of them at once: nothing fails, and the job is done by those that follow", () => {
    const session = working(2, 0, settings(), 4);
    session.reads({ 1: 90 * PAGE, 2: 90 * PAGE });
    session.done(1);
    session.done(2);
    for (let seconds = 0; seconds < 40; seconds++) passes(session, 1_000);
    expect(session.ordered("dismiss")).toBe(2);
    expect(session.wasTold("failed")).toEqual([]);
    for (const worker of [1, 2]) session.dies(worker);
    for (const worker of [3, 4]) session.up(worker);
    for (const worker of [3, 4]) session.done(worker);
    expect(session.wasTold("finished")).toHaveLength(1);
  });

  test("[K6] before its first task it is not replaced: where all are, jobs and questions fail with the figures", () => {
    const session = new ScriptedSession(1, 400, { memory: settings(), workerMemory: LIMIT });
    session.put();
    session.reads({ 1: 82 * PAGE });
    session.start(job("j", [tasks(0, splits(1), { sink: blocksOf(1) })]), 1);
    session.program({ type: "inspect", request: 7, sql: "select 1", maxRetries: 0 });
    expect(session.wasTold("failed")).toEqual([]);
    passes(session, 2_000);
    expect(session.ordered("dismiss")).toBe(0);
    expect(session.wasTold("failed")).toMatchObject([{ error: { name: "OutOfMemoryError" } }]);
    expect(session.wasTold("failed")[0]?.error.message).toMatch(/before its first task.*memoryLimit above 410 KiB/s);
    expect(session.wasTold("refused")).toMatchObject([{ request: 7 }]);
  });
});

describe("[K11] what a class has constructed", () => {
  /** It had done something else before, which is noted while the class constructs. */
  function modelled(pages: number): ScriptedSession {
    const session = new ScriptedSession(1, 400, { memory: settings(), workerMemory: LIMIT });
    session.put();
    const sink = { kind: "count" } as const;
    session.start(job("other", [tasks(0, splits(1), { sink })]), 1);
    session.done(1);
    session.start(job("j", [tasks(0, splits(20), { isClass: true, concurrency: { min: 1, max: 1 }, sink })]), 1);
    session.reads({ 1: 10 * PAGE });
    session.reads({ 1: pages * PAGE });
    session.done(1);
    return session;
  }

  const goesOn = (session: ScriptedSession, pages: number) => {
    session.now += 200;
    session.reads({ 1: pages * PAGE });
    session.done(1);
  };

  test("is no leak: its worker is kept above spill, and past half a little more after each task", () => {
    for (const sizes of [
      [75, 75, 75, 75],
      [55, 56, 57, 58, 59],
    ]) {
      const session = modelled(sizes[0] ?? 0);
      for (const pages of sizes) goesOn(session, pages);
      expect([asked(session), session.tasksOf(1).length]).toEqual([0, sizes.length + 3]);
    }
  });

  test("is that of the class, not of one that was there before", () => {
    const session = new ScriptedSession(1, 400, { memory: settings(), workerMemory: LIMIT });
    session.put();
    const operator = { isClass: true, concurrency: { min: 1, max: 1 }, sink: { kind: "count" } } as const;
    session.start(job("small", [tasks(0, splits(1), operator)]), 1);
    goesOn(session, 10);
    session.reads({ 1: 10 * PAGE });
    session.says(1, { type: "retired", job: "small" as never, operator: 0 as never, error: null });
    session.start(job("large", [tasks(0, splits(9), operator)]), 1);
    for (let task = 0; task < 4; task++) goesOn(session, 75);
    expect([asked(session), session.tasksOf(1).length]).toEqual([0, 6]);
  });

  test("and grows by more than a tenth of the limit is one", () => {
    const session = modelled(55);
    for (const pages of [55, 58, 61, 64, 67]) goesOn(session, pages);
    expect(asked(session)).toBe(1);
  });

  test("above pause has to go after each task, and the user is told what it needs", () => {
    const session = modelled(84);
    passes(session, 2_000);
    expect(session.happened("recycled")).toMatchObject([
      {
        why: expect.stringMatching(
          /classes have constructed in it takes 336 KiB of its 400 KiB; with more than 480 KiB/,
        ),
      },
    ]);
  });
});

describe("[K11] unmanaged memory", () => {
  test("above spill after a task with nothing left to spill: trimmed, and replaced where it is still above", () => {
    const session = working(1, 0);
    session.reads({ 1: 70 * PAGE });
    session.done(1);
    expect([asked(session), session.tasksOf(1).length]).toEqual([0, 2]);
    session.reads({ 1: 70 * PAGE + 1 });
    session.done(1);
    expect([asked(session), session.tasksOf(1).length]).toEqual([1, 2]);
    session.now += 100;
    answers(session);
    session.now += 100;
    session.reads({ 1: 70 * PAGE + 1 });
    expect(session.happened("recycled")).toHaveLength(1);
  });

  test("high with nothing left to spill: warned of once, with the figures and both causes", () => {
    const session = working(1, 5);
    const told = () => session.notices().filter((text) => text.includes("unmanaged"));
    session.reads({ 1: 74 * PAGE });
    // Its blocks are going to disk: there is something to spill.
    expect(told()).toEqual([]);
    session.diskWrites();
    session.reads({ 1: 74 * PAGE });
    session.reads({ 1: 75 * PAGE });
    expect(told()).toHaveLength(1);
    expect(told()[0]).toMatch(
      /\(op0\) has 296 KiB of its 400 KiB, 296 KiB of it unmanaged.*a leak .* or the allocator/,
    );
  });

  test("does not matter where only managed memory does", () => {
    const session = working(1, 0, settings({}, { measure: "managed" }));
    session.reads({ 1: 90 * PAGE });
    session.done(1);
    expect([asked(session), session.tasksOf(1).length]).toEqual([0, 2]);
  });
});

describe("a slow leak", () => {
  /** A task after which it has so much. */
  function task(session: ScriptedSession, pages: number): void {
    session.done(1);
    session.now += 200;
    session.reads({ 1: pages * PAGE });
  }

  test("[K11] more after each of its last tasks, and past half of the limit: replaced before it is in the way", () => {
    const session = working(1, 0);
    for (const pages of [47, 48, 49, 50]) task(session, pages);
    expect(asked(session)).toBe(0);
    task(session, 51);
    // It has a task, which is left to it.
    expect(asked(session)).toBe(0);
    session.done(1);
    expect([asked(session), session.happened("pressure")]).toEqual([1, []]);
    session.now += 100;
    answers(session);
    session.now += 100;
    session.reads({ 1: 51 * PAGE });
    expect(session.happened("recycled")).toMatchObject([{ why: expect.stringContaining("over 6 tasks of op0") }]);
  });

  test("[K11] memory that only was not collected yet is gone after the trim, and nobody is replaced", () => {
    const session = working(1, 0);
    for (const pages of [48, 49, 50, 51]) task(session, pages);
    session.done(1);
    session.now += 100;
    answers(session);
    session.now += 100;
    session.reads({ 1: 30 * PAGE });
    expect([asked(session), session.ordered("dismiss"), session.tasksOf(1).length]).toEqual([1, 0, 6]);
    for (const pages of [51, 52, 53]) task(session, pages);
    expect(asked(session)).toBe(1);
  });

  test("[K11] up and down past half of the limit is no leak", () => {
    const session = working(1, 0);
    for (const pages of [60, 61, 60, 62, 63, 61, 62]) task(session, pages);
    expect([asked(session), session.ordered("dismiss")]).toEqual([0, 0]);
  });
});
