/** The memory ladder of a worker, with readings that the test sets: exact to the byte. */

import { describe, expect, test } from "vitest";
import type { BlockId, TaskOperator, WorkerId } from "../../src/protocol/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { ended } from "../support/ends.ts";
import { settings } from "../support/memory-settings.ts";
import { blocksOf, LIMIT, sliceOf, splits, stepsOf, Table, working } from "./pressed.ts";

describe("[K5] spill", () => {
  test("begins above spill x limit in process memory, not at it, and goes on until below target x limit", () => {
    const table = working(1, 20);
    table.reads({ 1: 50 * PAGE });
    expect([table.spilled.length, stepsOf(table)]).toEqual([0, []]);
    table.reads({ 1: 50 * PAGE + 1 });
    expect(stepsOf(table)).toEqual(["normal ▸ spilling"]);
    // 70 pages and a byte: eleven have to go until it is below 60.
    expect(table.spilled).toHaveLength(11);
    table.diskWrites();
    // At 60: one more.
    table.reads({ 1: 51 * PAGE });
    expect([table.spilled.length, stepsOf(table)]).toEqual([12, ["normal ▸ spilling"]]);
    table.diskWrites();
    table.reads({ 1: 52 * PAGE - 1 });
    expect(stepsOf(table)).toEqual(["normal ▸ spilling", "spilling ▸ normal"]);
  });

  test("ends below spill x limit where there is no target", () => {
    const table = working(1, 20, settings({ target: false }));
    table.reads({ 1: 50 * PAGE + 1 });
    expect(table.spilled).toHaveLength(1);
    table.diskWrites();
    table.reads({ 1: 51 * PAGE });
    expect(table.spilled).toHaveLength(2);
    table.diskWrites();
    table.reads({ 1: 51 * PAGE });
    expect([table.spilled.length, stepsOf(table)]).toEqual([2, ["normal ▸ spilling", "spilling ▸ normal"]]);
  });

  test("the least recently used leave first; pinned ones stay; what has a file leaves without being written", () => {
    const table = working(1, 20);
    const made = table.wasTold("output").map(({ slice }) => slice.block.id);
    const [pinned, oldest] = made;
    if (pinned === undefined || oldest === undefined) throw new Error("no blocks");
    table.scheduler.ledger.pin(pinned);
    table.reads({ 1: 55 * PAGE });
    expect(table.spilled).toEqual(made.slice(1, 17));
    table.diskWrites();
    expect(table.scheduler.ledger.restore(oldest)).not.toBeNull();
    table.tell({ type: "restored", block: oldest });
    table.reads({ 1: 75 * PAGE });
    expect(table.spilled).toEqual(made.slice(1));
    expect(table.scheduler.ledger.stateOf(oldest)).toBe("spilled");
  });

  test("blocks of others stay", () => {
    const table = working(1, 5);
    const others = table.put(20);
    table.reads({ 1: 90 * PAGE });
    expect(table.spilled).toHaveLength(5);
    expect(table.scheduler.ledger.stateOf(others)).toBe("resident");
  });

  test("false: nothing leaves, whatever the process has", () => {
    const table = working(1, 20, settings({ spill: false, pause: false }));
    table.reads({ 1: 60 * PAGE });
    expect([table.spilled, stepsOf(table)]).toEqual([[], []]);
  });
});

describe("[K6] pause", () => {
  test("of less than 0.05 is left at its half, not never", () => {
    const table = working(2, 0, settings({ target: false, spill: false, pause: 0.04 }));
    table.reads({ 1: 5 * PAGE, 2: PAGE });
    table.reads({ 1: 2 * PAGE, 2: PAGE });
    expect(stepsOf(table)).toEqual(["normal ▸ paused"]);
    table.reads({ 1: 2 * PAGE - 1, 2: PAGE });
    expect(stepsOf(table).at(-1)).toBe("paused ▸ normal");
  });

  test("above pause x limit, not at it, no task starts; below 0.05 less, not at it, they do again", () => {
    const table = working(2, 0, settings({ spill: false }));
    table.reads({ 1: 80 * PAGE, 2: PAGE });
    table.done(1);
    expect(table.tasksOf(1)).toHaveLength(2);
    table.reads({ 1: 80 * PAGE + 1, 2: PAGE });
    expect(stepsOf(table)).toEqual(["normal ▸ paused"]);
    // The running task goes on, and is handed the room that it asks for.
    expect(table.asks(1)).toBe(true);
    table.handsOver(1);
    table.done(1);
    expect(table.tasksOf(1)).toHaveLength(2);
    table.done(2);
    expect(table.tasksOf(2)).toHaveLength(2);
    table.program({ type: "inspect", request: 7, sql: "select 1", maxRetries: 1 });
    table.reads({ 1: 74 * PAGE, 2: PAGE });
    expect(table.tasksOf(1)).toHaveLength(2);
    expect(table.toWorker(1).filter(({ type }) => type === "inspect")).toEqual([]);
    table.now += 1;
    table.reads({ 1: 74 * PAGE - 1, 2: PAGE });
    expect(stepsOf(table).at(-1)).toBe("paused ▸ normal");
    expect(table.toWorker(1).at(-1)?.type).toBe("inspect");
  });

  test("false: a worker above it goes on", () => {
    const table = working(1, 0, settings({ pause: false }));
    table.reads({ 1: 94 * PAGE });
    expect(stepsOf(table)).toEqual(["normal ▸ spilling"]);
  });

  test("blocks come from disk one at a time while a worker is paused", () => {
    const restores = (isPaused: boolean) => {
      const table = new Table(3, 40, { memory: settings(), workerMemory: LIMIT });
      table.put();
      const blocks: BlockId[] = [];
      for (let i = 0; i < 3; i++) blocks.push(table.put(10));
      table.putAfterSpilling(38);
      if (isPaused) table.reads({ 3: 81 * PAGE });
      const big = table.wasTold("sealed").at(-1)?.block.id;
      if (big === undefined) throw new Error("not sealed");
      table.program({ type: "release", blocks: [big] });
      const input: TaskOperator["input"] = {
        kind: "splits",
        splits: blocks.map((id) => ({ kind: "blocks", slices: [sliceOf(id, 10)] })),
      };
      table.start(job("j", [tasks(0, input, { sink: { kind: "count" } })], { holds: blocks }));
      table.tell({ type: "tick" });
      return table.ordered("restore");
    };
    expect([restores(false), restores(true)]).toEqual([3, 1]);
  });

  test("paused for pausedTooLong with nothing left to spill: reported once, with its task and for how long it runs", () => {
    const table = working(1, 0);
    table.now = 5_000;
    table.reads({ 1: 85 * PAGE });
    expect(table.scheduler.alarmAt).toBe(35_000);
    table.now = 34_999;
    table.reads({ 1: 85 * PAGE });
    const reports = () => table.events.filter(({ type }) => type === "pausedTooLong");
    expect(reports()).toEqual([]);
    table.now = 35_000;
    table.tell({ type: "tick" });
    expect(reports()).toMatchObject([{ worker: 1, pid: 1001, seconds: 30 }]);
    expect(table.notices().at(-1)).toMatch(/paused for 30 s.*nothing left to spill.*op0 has run for 35 s/);
    expect(table.scheduler.alarmAt).toBeNull();
    table.now = 70_000;
    table.reads({ 1: 85 * PAGE });
    expect(reports()).toHaveLength(1);
  });
});

describe("[K7] terminate", () => {
  test("above terminate x limit, not at it: SIGTERM, at the next reading SIGKILL; the task is run again, the blocks stay", () => {
    const table = working(2, 3);
    table.reads({ 1: 92 * PAGE });
    expect([table.ordered("terminate"), table.ordered("kill")]).toEqual([0, 0]);
    const { id, index } = table.taskOf(1);
    // Three blocks left with the reading before.
    table.reads({ 1: 95 * PAGE + 1 });
    expect(stepsOf(table).at(-1)).toBe("paused ▸ terminating");
    expect([table.ordered("terminate"), table.ordered("kill")]).toEqual([1, 0]);
    table.reads({ 1: PAGE });
    expect(table.commands.filter(({ type }) => type === "kill")).toEqual([
      { type: "kill", worker: 1, reason: "terminate" },
    ]);
    table.dies(1);
    table.done(2);
    expect(table.taskOf(2)).toMatchObject({ id, index, attempt: 1 });
    const made = table.wasTold("output").map(({ slice }) => slice.block.id);
    expect(made.map((block) => table.scheduler.ledger.has(block))).toEqual([true, true, true]);
  });

  test("its death is an event as any other, with its cause and its task", () => {
    const table = working(2, 0);
    table.reads({ 1: 95 * PAGE + 1 });
    table.tell({ type: "workerGone", worker: 1 as WorkerId, end: ended({ signal: "SIGTERM", cause: "terminate" }) });
    const died = { type: "workerDied", reason: "terminate", worker: 1, operator: "op0" };
    expect(table.events).toContainEqual(expect.objectContaining(died));
  });

  test("one that has ended before the next reading is not killed", () => {
    const table = working(2, 0);
    table.reads({ 1: 96 * PAGE });
    table.dies(1);
    table.reads({ 2: PAGE });
    expect(table.ordered("kill")).toBe(0);
  });

  test("false: it is only paused", () => {
    const table = working(1, 0, settings({ terminate: false }));
    table.reads({ 1: 200 * PAGE });
    expect([stepsOf(table), table.ordered("terminate")]).toEqual([["normal ▸ paused"], 0]);
  });
});

test("[K3] above target x limit in managed memory the least recently used blocks leave, process memory does not matter", () => {
  const table = new Table(1, 400, { memory: settings(), workerMemory: LIMIT, managedTarget: 60 * PAGE });
  table.put();
  table.start(job("j", [tasks(0, splits(1), { sink: blocksOf(1) })]), 200);
  const make = (count: number) => {
    for (let i = 0; i < count; i++) {
      table.asks(1);
      table.handsOver(1);
    }
    table.program({ type: "keep", blocks: table.wasTold("output").map(({ slice }) => slice.block.id) });
  };
  make(60);
  table.reads({ 1: 10 * PAGE });
  expect([table.spilled, stepsOf(table)]).toEqual([[], []]);
  make(1);
  expect(table.spilled).toEqual(
    table
      .wasTold("output")
      .map(({ slice }) => slice.block.id)
      .slice(0, 1),
  );
});

test("[K13] measure: managed lets every threshold go by managed memory alone", () => {
  const table = working(1, 70, settings({}, { measure: "managed" }));
  table.reads({ 1: 500 * PAGE });
  expect([stepsOf(table), table.spilled]).toEqual([[], []]);
  table.says(1, { type: "kernel", memory: 1, spilled: 0 });
  table.reads({ 1: 500 * PAGE });
  expect(stepsOf(table)).toEqual(["normal ▸ spilling"]);
  expect(table.spilled).toHaveLength(11);
  table.says(1, { type: "kernel", memory: 96 * PAGE, spilled: 0 });
  table.reads({ 1: 500 * PAGE });
  expect(stepsOf(table)).toEqual(["normal ▸ spilling", "spilling ▸ terminating"]);
});

test("[K9] a worker's limit holds for its process with the blocks that it is answerable for; those of a dead one are nobody's", () => {
  const table = working(2, 30);
  table.reads({ 1: 40 * PAGE, 2: 40 * PAGE });
  expect(stepsOf(table)).toEqual([]);
  table.dies(1);
  table.up(3);
  table.reads({ 2: 70 * PAGE, 3: 70 * PAGE });
  expect(stepsOf(table)).toEqual([]);
  expect(table.scheduler.ledger.managed(1 as WorkerId)).toBe(0);
});

test("[K6] the wide kernel stands on no ladder", () => {
  const table = new Table(1, 100, { memory: settings(), workerMemory: LIMIT });
  table.up(9, { isWide: true });
  table.reads({ 9: 500 * PAGE });
  expect([stepsOf(table), table.ordered("terminate")]).toEqual([[], 0]);
});
