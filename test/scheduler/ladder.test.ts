/** The memory ladder of a worker, with readings that the test sets: exact to the byte. */

import { describe, expect, test } from "vitest";
import type { BlockId, TaskOperator, WorkerId } from "../../src/protocol/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { ended } from "../support/ends.ts";
import { settings } from "../support/memory-settings.ts";
import { blocksOf, LIMIT, ScriptedSession, sliceOf, splits, stepsOf, working } from "./pressed.ts";

describe("[K5] spill", () => {
  test("begins above spill x limit in process memory, not at it, and goes on until below target x limit", () => {
    const session = working(1, 20);
    session.reads({ 1: 50 * PAGE });
    expect([session.spilled.length, stepsOf(session)]).toEqual([0, []]);
    session.reads({ 1: 50 * PAGE + 1 });
    expect(stepsOf(session)).toEqual(["normal ▸ spilling"]);
    // 70 pages and a byte: eleven have to go until it is below 60.
    expect(session.spilled).toHaveLength(11);
    session.diskWrites();
    // At 60: one more.
    session.reads({ 1: 51 * PAGE });
    expect([session.spilled.length, stepsOf(session)]).toEqual([12, ["normal ▸ spilling"]]);
    session.diskWrites();
    session.reads({ 1: 52 * PAGE - 1 });
    expect(stepsOf(session)).toEqual(["normal ▸ spilling", "spilling ▸ normal"]);
  });

  test("ends below spill x limit where there is no target", () => {
    const session = working(1, 20, settings({ target: false }));
    session.reads({ 1: 50 * PAGE + 1 });
    expect(session.spilled).toHaveLength(1);
    session.diskWrites();
    session.reads({ 1: 51 * PAGE });
    expect(session.spilled).toHaveLength(2);
    session.diskWrites();
    session.reads({ 1: 51 * PAGE });
    expect([session.spilled.length, stepsOf(session)]).toEqual([2, ["normal ▸ spilling", "spilling ▸ normal"]]);
  });

  test("the least recently used leave first; pinned ones stay; what has a file leaves without being written", () => {
    const session = working(1, 20);
    const made = session.wasTold("output").map(({ slice }) => slice.block.id);
    const [pinned, oldest] = made;
    if (pinned === undefined || oldest === undefined) throw new Error("no blocks");
    session.scheduler.ledger.pin(pinned);
    session.reads({ 1: 55 * PAGE });
    expect(session.spilled).toEqual(made.slice(1, 17));
    session.diskWrites();
    expect(session.scheduler.ledger.restore(oldest)).not.toBeNull();
    session.tell({ type: "restored", block: oldest });
    session.reads({ 1: 75 * PAGE });
    expect(session.spilled).toEqual(made.slice(1));
    expect(session.scheduler.ledger.stateOf(oldest)).toBe("spilled");
  });

  test("blocks of others stay", () => {
    const session = working(1, 5);
    const others = session.put(20);
    session.reads({ 1: 90 * PAGE });
    expect(session.spilled).toHaveLength(5);
    expect(session.scheduler.ledger.stateOf(others)).toBe("resident");
  });

  test("false: nothing leaves, whatever the process has", () => {
    const session = working(1, 20, settings({ spill: false, pause: false }));
    session.reads({ 1: 60 * PAGE });
    expect([session.spilled, stepsOf(session)]).toEqual([[], []]);
  });
});

describe("[K6] pause", () => {
  test("of less than 0.05 is left at its half, not never", () => {
    const session = working(2, 0, settings({ target: false, spill: false, pause: 0.04 }));
    session.reads({ 1: 5 * PAGE, 2: PAGE });
    session.reads({ 1: 2 * PAGE, 2: PAGE });
    expect(stepsOf(session)).toEqual(["normal ▸ paused"]);
    session.reads({ 1: 2 * PAGE - 1, 2: PAGE });
    expect(stepsOf(session).at(-1)).toBe("paused ▸ normal");
  });

  test("above pause x limit, not at it, no task starts; below 0.05 less, not at it, they do again", () => {
    const session = working(2, 0, settings({ spill: false }));
    session.reads({ 1: 80 * PAGE, 2: PAGE });
    session.done(1);
    expect(session.tasksOf(1)).toHaveLength(2);
    session.reads({ 1: 80 * PAGE + 1, 2: PAGE });
    expect(stepsOf(session)).toEqual(["normal ▸ paused"]);
    // The running task goes on, and is handed the room that it asks for.
    expect(session.asks(1)).toBe(true);
    session.handsOver(1);
    session.done(1);
    expect(session.tasksOf(1)).toHaveLength(2);
    session.done(2);
    expect(session.tasksOf(2)).toHaveLength(2);
    session.program({ type: "inspect", request: 7, sql: "select 1", maxRetries: 1 });
    session.reads({ 1: 74 * PAGE, 2: PAGE });
    expect(session.tasksOf(1)).toHaveLength(2);
    expect(session.toWorker(1).filter(({ type }) => type === "inspect")).toEqual([]);
    session.now += 1;
    session.reads({ 1: 74 * PAGE - 1, 2: PAGE });
    expect(stepsOf(session).at(-1)).toBe("paused ▸ normal");
    expect(session.toWorker(1).at(-1)?.type).toBe("inspect");
  });

  test("false: a worker above it goes on", () => {
    const session = working(1, 0, settings({ pause: false }));
    session.reads({ 1: 94 * PAGE });
    expect(stepsOf(session)).toEqual(["normal ▸ spilling"]);
  });

  test("blocks come from disk one at a time while a worker is paused", () => {
    const restores = (isPaused: boolean) => {
      const session = new ScriptedSession(3, 40, { memory: settings(), workerMemory: LIMIT });
      session.put();
      const blocks: BlockId[] = [];
      for (let i = 0; i < 3; i++) blocks.push(session.put(10));
      session.putAfterSpilling(38);
      if (isPaused) session.reads({ 3: 81 * PAGE });
      const big = session.wasTold("sealed").at(-1)?.block.id;
      if (big === undefined) throw new Error("not sealed");
      session.program({ type: "release", blocks: [big] });
      const input: TaskOperator["input"] = {
        kind: "splits",
        splits: blocks.map((id) => ({ kind: "blocks", slices: [sliceOf(id, 10)] })),
      };
      session.start(job("j", [tasks(0, input, { sink: { kind: "count" } })], { holds: blocks }));
      session.tell({ type: "tick" });
      return session.ordered("restore");
    };
    expect([restores(false), restores(true)]).toEqual([3, 1]);
  });

  test("paused for pausedTooLong with nothing left to spill: reported once, with its task and for how long it runs", () => {
    const session = working(1, 0);
    session.now = 5_000;
    session.reads({ 1: 85 * PAGE });
    expect(session.scheduler.alarmAt).toBe(35_000);
    session.now = 34_999;
    session.reads({ 1: 85 * PAGE });
    const reports = () => session.events.filter(({ type }) => type === "pausedTooLong");
    expect(reports()).toEqual([]);
    session.now = 35_000;
    session.tell({ type: "tick" });
    expect(reports()).toMatchObject([{ worker: 1, pid: 1001, seconds: 30 }]);
    expect(session.notices().at(-1)).toMatch(/paused for 30 s.*nothing left to spill.*op0 has run for 35 s/);
    expect(session.scheduler.alarmAt).toBeNull();
    session.now = 70_000;
    session.reads({ 1: 85 * PAGE });
    expect(reports()).toHaveLength(1);
  });
});

describe("[K7] terminate", () => {
  test("above terminate x limit, not at it: SIGTERM, at the next reading SIGKILL; the task is run again, the blocks stay", () => {
    const session = working(2, 3);
    session.reads({ 1: 92 * PAGE });
    expect([session.ordered("terminate"), session.ordered("kill")]).toEqual([0, 0]);
    const { id, index } = session.taskOf(1);
    // Three blocks left with the reading before.
    session.reads({ 1: 95 * PAGE + 1 });
    expect(stepsOf(session).at(-1)).toBe("paused ▸ terminating");
    expect([session.ordered("terminate"), session.ordered("kill")]).toEqual([1, 0]);
    session.reads({ 1: PAGE });
    expect(session.commands.filter(({ type }) => type === "kill")).toEqual([
      { type: "kill", worker: 1, reason: "terminate" },
    ]);
    session.dies(1);
    session.done(2);
    expect(session.taskOf(2)).toMatchObject({ id, index, attempt: 1 });
    const made = session.wasTold("output").map(({ slice }) => slice.block.id);
    expect(made.map((block) => session.scheduler.ledger.has(block))).toEqual([true, true, true]);
  });

  test("its death is an event as any other, with its cause and its task", () => {
    const session = working(2, 0);
    session.reads({ 1: 95 * PAGE + 1 });
    session.tell({ type: "workerGone", worker: 1 as WorkerId, end: ended({ signal: "SIGTERM", cause: "terminate" }) });
    const died = { type: "workerDied", reason: "terminate", worker: 1, operator: "op0" };
    expect(session.events).toContainEqual(expect.objectContaining(died));
  });

  test("one that has ended before the next reading is not killed", () => {
    const session = working(2, 0);
    session.reads({ 1: 96 * PAGE });
    session.dies(1);
    session.reads({ 2: PAGE });
    expect(session.ordered("kill")).toBe(0);
  });

  test("false: it is only paused", () => {
    const session = working(1, 0, settings({ terminate: false }));
    session.reads({ 1: 200 * PAGE });
    expect([stepsOf(session), session.ordered("terminate")]).toEqual([["normal ▸ paused"], 0]);
  });
});

test("[K3] above target x limit in managed memory the least recently used blocks leave, process memory does not matter", () => {
  const session = new ScriptedSession(1, 400, { memory: settings(), workerMemory: LIMIT, managedTarget: 60 * PAGE });
  session.put();
  session.start(job("j", [tasks(0, splits(1), { sink: blocksOf(1) })]), 200);
  const make = (count: number) => {
    for (let i = 0; i < count; i++) {
      session.asks(1);
      session.handsOver(1);
    }
    session.program({ type: "keep", blocks: session.wasTold("output").map(({ slice }) => slice.block.id) });
  };
  make(60);
  session.reads({ 1: 10 * PAGE });
  expect([session.spilled, stepsOf(session)]).toEqual([[], []]);
  make(1);
  expect(session.spilled).toEqual(
    session
      .wasTold("output")
      .map(({ slice }) => slice.block.id)
      .slice(0, 1),
  );
});

test("[K13] measure: managed lets every threshold go by managed memory alone", () => {
  const session = working(1, 70, settings({}, { measure: "managed" }));
  session.reads({ 1: 500 * PAGE });
  expect([stepsOf(session), session.spilled]).toEqual([[], []]);
  session.says(1, { type: "kernel", memory: 1, spilled: 0 });
  session.reads({ 1: 500 * PAGE });
  expect(stepsOf(session)).toEqual(["normal ▸ spilling"]);
  expect(session.spilled).toHaveLength(11);
  session.says(1, { type: "kernel", memory: 96 * PAGE, spilled: 0 });
  session.reads({ 1: 500 * PAGE });
  expect(stepsOf(session)).toEqual(["normal ▸ spilling", "spilling ▸ terminating"]);
});

test("[K9] a worker's limit holds for its process with the blocks that it is answerable for; those of a dead one are nobody's", () => {
  const session = working(2, 30);
  session.reads({ 1: 40 * PAGE, 2: 40 * PAGE });
  expect(stepsOf(session)).toEqual([]);
  session.dies(1);
  session.up(3);
  session.reads({ 2: 70 * PAGE, 3: 70 * PAGE });
  expect(stepsOf(session)).toEqual([]);
  expect(session.scheduler.ledger.managed(1 as WorkerId)).toBe(0);
});

test("[K6] the wide kernel stands on no ladder", () => {
  const session = new ScriptedSession(1, 100, { memory: settings(), workerMemory: LIMIT });
  session.up(9, { isWide: true });
  session.reads({ 9: 500 * PAGE });
  expect([stepsOf(session), session.ordered("terminate")]).toEqual([[], 0]);
});
