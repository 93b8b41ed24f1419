/** Garbage of the program that fills the store: the program is asked to collect it, in time and not too often. */
import { expect, test } from "vitest";
import { job, tasks } from "../simulate/plans.ts";
import { blocksOf, ScriptedSession, splits } from "./scripted-session.ts";

/** A store of ten pages, of which the program keeps so many; a task asks for one more at a time. */
function keeps(pages: number): ScriptedSession {
  const session = new ScriptedSession(1, 10);
  session.hasNoGarbage = false;
  for (let i = 0; i < pages; i++) session.put();
  session.start(job("j", [tasks(0, splits(1), { sink: blocksOf(1) })]), 20);
  return session;
}

const asked = (session: ScriptedSession) => session.wasTold("collect").length;

test("[R6] the program is asked to collect its garbage when room has to be made for somebody, and not before", () => {
  const session = keeps(9);
  session.asks(1);
  session.handsOver(1);
  expect(asked(session)).toBe(0);
  session.asks(1);
  expect(asked(session)).toBe(1);
});

test("[R6] it is not asked where it keeps next to nothing", () => {
  const session = new ScriptedSession(1, 40);
  session.put();
  session.start(job("j", [tasks(0, splits(1), { sink: blocksOf(1) })]), 60);
  for (let i = 0; i < 39; i++) {
    session.asks(1);
    session.handsOver(1);
  }
  session.asks(1);
  expect(asked(session)).toBe(0);
});

/** Room has to be made: what the program puts there does not fit beside what it keeps. */
function needsRoom(session: ScriptedSession, after: number): number {
  const before = asked(session);
  session.now += after;
  session.putAfterSpilling(1);
  return asked(session) - before;
}

test("[R6] once until it has answered, then not before a second is over; each time that was in vain doubles that", () => {
  const session = keeps(10);
  expect([needsRoom(session, 0), needsRoom(session, 5_000)]).toEqual([1, 0]);
  for (const pause of [1_000, 2_000, 4_000]) {
    session.program({ type: "collected", took: 1 });
    expect([needsRoom(session, pause - 1), needsRoom(session, 1)]).toEqual([0, 1]);
  }
});

test("[R6] one that found something is followed by the next after a second again", () => {
  const session = keeps(9);
  const garbage = session.put();
  needsRoom(session, 0);
  session.program({ type: "collected", took: 1 });
  needsRoom(session, 1_000);
  session.program({ type: "release", blocks: [garbage] });
  needsRoom(session, 0);
  session.program({
    type: "release",
    blocks: session
      .wasTold("sealed")
      .slice(-2)
      .map(({ block }) => block.id),
  });
  session.program({ type: "collected", took: 1 });
  needsRoom(session, 0);
  needsRoom(session, 0);
  expect([needsRoom(session, 999), needsRoom(session, 1)]).toEqual([0, 1]);
});

test("[R6] a collection that took long is not asked for again soon: they take a twentieth of the time at most", () => {
  const session = keeps(10);
  needsRoom(session, 0);
  session.program({ type: "collected", took: 400 });
  expect([needsRoom(session, 7_999), needsRoom(session, 1)]).toEqual([0, 1]);
});

test("[R6] before a job fails for want of room the program is asked, and its answer waited for", () => {
  const session = new ScriptedSession(1, 10);
  session.hasNoGarbage = false;
  session.put();
  session.start(job("j", [tasks(0, splits(1), { sink: blocksOf(1) })]), 1);
  const kept = [1, 2, 3, 4].map(() => session.put(2));
  session.asks(1, 2);
  // What the program keeps cannot leave: the disk refuses, and goes on doing so.
  const refused = () => {
    session.diskRefuses("no space left");
    session.now += 1_000;
    session.tell({ type: "tick" });
  };
  for (let i = 0; i < 300; i++) refused();
  expect(asked(session)).toBeGreaterThan(0);
  expect(session.wasTold("failed")).toEqual([]);
  session.program({ type: "release", blocks: kept });
  session.program({ type: "collected", took: 1 });
  expect(session.wasTold("failed")).toEqual([]);
  expect(session.toWorker(1).filter(({ type }) => type === "reserved")).toHaveLength(1);
});

test("[R6] where a collection finds nothing the job fails", () => {
  const session = new ScriptedSession(1, 10);
  session.hasNoGarbage = false;
  session.put();
  session.start(job("j", [tasks(0, splits(1), { sink: blocksOf(1) })]), 1);
  for (let i = 0; i < 4; i++) session.put(2);
  session.asks(1, 2);
  for (let i = 0; i < 300; i++) {
    session.diskRefuses("no space left");
    session.now += 1_000;
    session.tell({ type: "tick" });
    if (i % 10 === 0) session.program({ type: "collected", took: 1 });
  }
  expect(session.wasTold("failed")).toMatchObject([{ error: { message: "no space left" } }]);
});
