/** Workers whose JavaScript heap fills up from task to task: found out by what they tell, before V8 ends them. */

import { describe, expect, test } from "vitest";
import { job, tasks } from "../simulate/plans.ts";
import { settings } from "../support/memory-settings.ts";
import { LIMIT, ScriptedSession, splits } from "./pressed.ts";

const OLD_SPACE = 100;
/** As V8 tells it: with the young generation. */
const V8_LIMIT = 125;

const heap = (used: number) => ({ used, limit: V8_LIMIT });

/** One worker, whose job has tasks enough. */
function leaking(memory = settings(), isClass = false): ScriptedSession {
  const session = new ScriptedSession(1, 400, { memory, workerMemory: LIMIT, workerHeap: OLD_SPACE });
  session.put();
  const one = { isClass, ...(isClass ? { concurrency: { min: 1, max: 1 } } : {}), sink: { kind: "count" } as const };
  session.start(job("j", [tasks(0, splits(100), one)]), 1);
  return session;
}

function told(session: ScriptedSession, ...used: number[]): void {
  for (const bytes of used) session.done(1, 0, heap(bytes));
}

const asked = (session: ScriptedSession) => session.toWorker(1).filter(({ type }) => type === "trim").length;

function trimLeaves(session: ScriptedSession, used: number): void {
  const report = { worker: 1 as never, before: 9, after: 4, skipped: [] };
  session.says(1, { type: "trimmed", request: null, report, heap: heap(used) });
}

describe("[K11] a heap that fills up from task to task", () => {
  test("is trimmed past half of its limit; where more than half is left, its worker is replaced at once", () => {
    const session = leaking();
    told(session, 20, 40, 35, 50);
    expect([asked(session), session.tasksOf(1).length]).toEqual([0, 5]);
    told(session, 55);
    expect([asked(session), session.tasksOf(1).length]).toEqual([1, 5]);
    trimLeaves(session, 51);
    const why = /heap has grown from 20 B to 51 B of its 100 B over 5 tasks of op0: a leak/;
    expect(session.happened("recycled")).toMatchObject([{ worker: 1, why: expect.stringMatching(why) }]);
    expect(session.ordered("dismiss")).toBe(1);
  });

  test("where it was garbage the worker works on, and is trimmed again past the middle between what was left and the limit", () => {
    const session = leaking();
    told(session, 30, 51);
    trimLeaves(session, 20);
    expect([asked(session), session.ordered("dismiss"), session.tasksOf(1).length]).toEqual([1, 0, 3]);
    told(session, 59, 60);
    expect(asked(session)).toBe(1);
    told(session, 61);
    expect(asked(session)).toBe(2);
  });

  test("garbage costs ever fewer trims", () => {
    const session = leaking();
    let trims = 0;
    for (let task = 1; task <= 60; task++) {
      told(session, 90);
      if (asked(session) === trims) continue;
      trims += 1;
      trimLeaves(session, 20);
    }
    expect([trims, session.ordered("dismiss")]).toEqual([6, 0]);
  });

  test("a leak among garbage is found out with the next trim", () => {
    const session = leaking();
    told(session, 20, 70);
    trimLeaves(session, 50);
    expect([asked(session), session.ordered("dismiss")]).toEqual([1, 0]);
    told(session, 75, 76);
    trimLeaves(session, 60);
    expect([asked(session), session.ordered("dismiss")]).toEqual([2, 1]);
  });

  test("what the first task had to have is no leak", () => {
    const session = leaking();
    told(session, 65);
    trimLeaves(session, 60);
    told(session, 70, 81);
    trimLeaves(session, 70);
    expect([asked(session), session.ordered("dismiss")]).toEqual([2, 0]);
  });

  test("one of gigabytes takes its time to be collected: there is no answer after half a minute only", () => {
    const session = leaking();
    told(session, 20, 60);
    session.now += 29_999;
    session.tell({ type: "tick" });
    expect([session.ordered("dismiss"), session.scheduler.alarmAt]).toEqual([0, 30_000]);
    session.now += 1;
    session.tell({ type: "tick" });
    expect(session.ordered("dismiss")).toBe(1);
  });

  test("matters to nobody where only managed memory does, or no threshold is on", () => {
    const off = { target: false, spill: false, pause: false, terminate: false } as const;
    for (const memory of [settings({}, { measure: "managed" }), settings(off)]) {
      const session = leaking(memory);
      told(session, 20, 60, 80);
      expect(asked(session)).toBe(0);
    }
  });

  test("a task that V8 is ended under is run again as it was: those before it had half of the heap", () => {
    const session = leaking();
    told(session, 20, 51);
    trimLeaves(session, 49);
    told(session, 60);
    session.now += 10_000;
    session.dies(1, { cause: "heap" });
    expect(session.happened("oomRetry")).toMatchObject([{ need: { batchSize: null, atOnce: null, alone: false } }]);
  });
});

describe("[K11] what a class has constructed on the heap", () => {
  test("is no leak, however much of it there is", () => {
    const session = leaking(settings(), true);
    told(session, 80);
    trimLeaves(session, 79);
    // With so much in use it takes more to ask again.
    told(session, 82, 89);
    expect([asked(session), session.ordered("dismiss"), session.tasksOf(1).length]).toEqual([1, 0, 4]);
    told(session, 90);
    trimLeaves(session, 88);
    expect([asked(session), session.ordered("dismiss")]).toEqual([2, 0]);
  });

  test("and what it keeps beyond that, a tenth of the limit or more, is one", () => {
    const session = leaking(settings(), true);
    told(session, 60);
    trimLeaves(session, 55);
    told(session, 78);
    trimLeaves(session, 66);
    expect([asked(session), session.ordered("dismiss")]).toEqual([2, 1]);
  });
});
