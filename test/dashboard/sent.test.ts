/** What the dashboard keeps over time, and what it sends of it. */
import { expect, test } from "vitest";
import { SessionModel } from "../../src/dashboard/model/index.ts";
import { Board } from "../../src/dashboard/views/index.ts";
import type { JobId, OperatorId, OperatorPlan, RecordedEvent, TaskId, WorkerId } from "../../src/protocol/index.ts";

const nothing = { private: 0, shared: 0, children: 0 };

function reading(at: number): RecordedEvent {
  const store = { resident: 0, onDisk: 0, files: 0 };
  return {
    at,
    type: "memory",
    workers: [],
    supervisor: nothing,
    program: nothing,
    store,
    workerLimit: null,
    limit: null,
  };
}

function gone(at: number, worker: number, reason: "terminate" | "signal" | "asked"): RecordedEvent {
  const facts = { pid: 1, exitCode: null, signal: "SIGKILL", task: null, operator: null, files: [], endedFor: null };
  const memory = { limit: null, curve: [], nodeCurve: [], node: null, beside: [], users: [], log: "", profile: null };
  return { at, type: "workerGone", worker, reason, ...facts, ...memory } as unknown as RecordedEvent;
}

test("[W1] ends by memory and other deaths are counted over time, also where nothing dies any more", () => {
  const model = new SessionModel();
  const board = new Board(model, { logs: "" });
  for (let at = 0; at <= 10_000; at += 200) {
    model.take(reading(at));
    if (at === 3_000) model.take(gone(at + 100, 1, "terminate"));
    if (at === 5_000) model.take(gone(at + 100, 2, "signal"));
    if (at === 7_000) model.take(gone(at + 100, 3, "asked"));
  }
  model.end();
  board.update();
  const { entries } = JSON.parse(board.snapshot());
  const { t, values } = entries["series/deaths"];
  expect(t).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((second) => second * 1_000));
  expect(values.memoryDeaths).toEqual([0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
  expect(values.otherDeaths).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
  expect(values.oomRetries).toEqual(t.map(() => 0));
});

test("[W2] an operator's plan, with its SQL, is sent once, and what changes again and again", () => {
  const model = new SessionModel();
  const board = new Board(model, { logs: "" });
  const [job, task, worker] = ["j" as JobId, "j/0/0" as TaskId, 1 as WorkerId];
  const sql = `SELECT ${"x".repeat(4_000)}`;
  const plan = {
    id: 0 as OperatorId,
    name: "read",
    kind: "tasks",
    place: "worker",
    inputs: [],
    tasks: 1,
  };
  const recipe = { input: "splits", flowsFrom: [], functions: [], sql: [sql] };
  const operator = { ...plan, recipe } as unknown as OperatorPlan;
  model.take({ at: 1, type: "jobStarted", job, operators: [operator] });
  model.take({ at: 2, type: "taskFormed", task, job, operator: plan.id, index: 0, bytesIn: null });
  model.take({ at: 3, type: "task", task, to: "running", worker });
  const first = JSON.parse(board.update() ?? "").set;
  expect(first["plan/j/0"]).toEqual(operator);
  expect(Object.keys(first).indexOf("plan/j/0")).toBeLessThan(Object.keys(first).indexOf("operator/j/0"));
  const shares = [0.25, 0.5].map((share, i) => {
    const progress = { task, rowsIn: 10, rowsOut: 10 * (i + 1), bytesOut: 100, share, memory: 0, peakMemory: 0 };
    model.take({ at: 4 + i, type: "taskProgress", job, tasks: [progress] });
    const patch = board.update() ?? "";
    expect(patch).not.toContain(sql);
    return JSON.parse(patch).set["operator/j/0"].share;
  });
  expect(shares).toEqual([0.25, 0.5]);
  // A page that comes later has both.
  const { entries } = JSON.parse(board.snapshot());
  expect(entries["plan/j/0"]).toEqual(operator);
  expect(entries["operator/j/0"]).toMatchObject({ share: 0.5, rowsOut: 20 });
});

test("[W1] [O4] what holds an operator back is sent in words, now and before", () => {
  const model = new SessionModel();
  const board = new Board(model, { logs: "" });
  const [job, operator] = ["j" as JobId, 0 as OperatorId];
  const plan = { id: operator, name: "sort", kind: "tasks", place: "wide", input: "fedTask", inputs: [], tasks: 1 };
  model.take({ at: 1, type: "jobStarted", job, operators: [{ ...plan, recipe: null } as unknown as OperatorPlan] });
  model.take({ at: 100, type: "heldBack", job, operator, policy: "WideKernelBackpressurePolicy" });
  model.take({ at: 400, type: "heldBack", job, operator, policy: "WorkerPauseBackpressurePolicy" });
  expect(JSON.parse(board.update() ?? "").set["operator/j/0"]).toMatchObject({
    share: null,
    heldBy: "workers that are paused because of their memory",
    heldSince: 400,
    heldBack: { "another operator in the wide kernel": 300 },
  });
});
