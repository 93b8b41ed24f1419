/** What keeps the dashboard small: series and spans with a bound, pages that do not read. */
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { expect, test } from "vitest";
import type { TaskCard } from "../../src/dashboard/api.ts";
import { DashboardServer, StaticFiles } from "../../src/dashboard/http/index.ts";
import { SharedStream } from "../../src/dashboard/http/shared-stream.ts";
import { SessionModel } from "../../src/dashboard/model/index.ts";
import { fuller, highestOf, PointSeries } from "../../src/dashboard/model/series.ts";
import { shownJobs } from "../../src/dashboard/model/shown-jobs.ts";
import { Spans } from "../../src/dashboard/model/spans.ts";
import { TaskCurves } from "../../src/dashboard/model/task-curves.ts";
import { Top } from "../../src/dashboard/model/top.ts";
import { snapshotOf } from "../../src/events/index.ts";
import type { JobId, OperatorId, OperatorPlan, RecordedEvent, TaskId, WorkerId } from "../../src/protocol/index.ts";

test("[W2] a series of a long session keeps its peaks and its parts' sums in a bounded number of points", () => {
  const series = new PointSeries(150, fuller("process"), 100);
  for (let at = 0; at < 1_000_000; at += 200) {
    const managed = at === 500_000 ? 1e9 : at % 7_000;
    series.add({ at, values: { process: managed + 5, managed, unmanaged: 5 } });
  }
  const { t, values } = series.all();
  expect(t.length).toBeLessThanOrEqual(101);
  expect(t[0]).toBe(0);
  expect(t).toEqual([...t].sort((one, two) => one - two));
  expect(Math.max(...(values.process ?? []).map(Number))).toBe(1e9 + 5);
  for (const [i, process] of (values.process ?? []).entries()) {
    expect(Number(values.managed?.[i]) + Number(values.unmanaged?.[i])).toBe(process);
  }
});

test("[W2] spans beyond the bound replace the oldest, which are counted", () => {
  const spans = new Spans(10_000);
  for (let i = 0; i < 25_000; i++) spans.add({ start: i, end: i + 1, lane: i % 3, operator: 0, kind: "task" });
  expect(spans.leftOut).toBe(15_000);
  const starts: number[] = [];
  spans.between(0, 30_000, (start) => starts.push(start));
  expect(starts.length).toBe(10_000);
  expect(starts[0]).toBe(15_000);
  starts.length = 0;
  spans.between(20_000.5, 20_010.5, (start) => starts.push(start));
  expect(starts).toEqual([20_000, 20_001, 20_002, 20_003, 20_004, 20_005, 20_006, 20_007, 20_008, 20_009, 20_010]);
});

test("[W2] the longest of many tasks are kept, highest first", () => {
  const top = new Top<number>(3);
  for (const score of [5, 1, 9, 3, 9, 7, 2]) if (top.takes(score)) top.add(score, score);
  expect({ items: top.items, seen: top.seen }).toEqual({ items: [9, 9, 7], seen: 7 });
});

test("[M6] [W2] the fullest tasks have a curve each, a task that runs again a second one; the others are counted", () => {
  const curves = new TaskCurves();
  const run = (index: number, peak: number, from: number, name = `task ${index}`) => {
    const task = `t${index}` as TaskId;
    for (const [i, bytes] of [10, peak, 20].entries()) curves.add(task, () => name, from + i * 200, bytes);
    return task;
  };
  for (let index = 0; index < 500; index++) curves.end(run(index, 1000 + index, index * 10_000));
  // One reading says nothing about a task over time.
  curves.add("short" as TaskId, () => "short", 5_000_000, 99_999);
  curves.end("short" as TaskId);
  curves.end(run(7, 9_000, 6_000_000));
  const running = run(7, 8_000, 6_000_500, "task 7, attempt 2");
  const { memory, leftOut } = curves.fullest();
  expect(Object.keys(memory.values).slice(0, 3)).toEqual(["task 7", "task 7, attempt 2", "task 499"]);
  expect(Object.keys(memory.values)).toHaveLength(10);
  expect(leftOut).toBe(492);
  expect(memory.t).toEqual([...memory.t].sort((one, two) => one - two));
  const at = (name: string) =>
    memory.t.map((t, i) => [t, memory.values[name]?.[i] ?? null]).filter(([, value]) => value);
  expect(at("task 499")).toEqual([
    [4_990_000, 10],
    [4_990_200, 1499],
    [4_990_400, 20],
  ]);
  // Between two of its readings, at the time of another task's reading, a curve goes on.
  curves.add("t8" as TaskId, () => "task 8", 6_000_600, 7_000);
  curves.add("t8" as TaskId, () => "task 8", 6_000_750, 7_000);
  const both = curves.fullest().memory;
  expect(both.values["task 7, attempt 2"]?.[both.t.indexOf(6_000_600)]).toBe(10);
  expect(both.values["task 7, attempt 2"]?.[both.t.indexOf(6_000_750)]).toBe(8_000);
  curves.keepRunning((task) => task !== running);
  expect(Object.keys(curves.fullest().memory.values).slice(0, 3)).toEqual(["task 7", "task 7, attempt 2", "task 8"]);
  for (let at = 0; at < 1_000_000; at += 200) curves.add("long" as TaskId, () => "long", at, 50_000);
  expect(curves.fullest().memory.t.length).toBeLessThan(400);
});

test("[W2] the figures of operators go with their jobs", () => {
  const model = new SessionModel();
  for (let number = 0; number < 3_000; number++) {
    const job = `job${number}` as JobId;
    const recipe = { functions: ["map"], sql: [], files: 0, request: { cpu: 1, gpu: 0, memory: 0 } };
    const operator = {
      id: 0 as OperatorId,
      name: "map",
      kind: "tasks",
      place: "worker",
      input: "splits",
      inputs: [],
      tasks: 1,
      recipe,
    };
    model.take({ at: number, type: "jobStarted", job, operators: [operator as unknown as OperatorPlan] });
    model.figuresOf(job, 0).made(number, 1, 1);
    model.take({ at: number, type: "job", job, to: "gone" });
  }
  expect(model.operators.size).toBeLessThan(600);
  expect(model.operators.has("job2999/0")).toBe(true);
  expect(shownJobs(model.state.jobs.values()).every(({ id }) => model.operators.has(`${id}/0`))).toBe(true);
});

const FIGURES = { rowsIn: 1, rowsOut: 1, bytesOut: 8, cpu: 1, peakMemory: 1, addedMemory: 0, errored: 0 };
/** More than an operator keeps, even twice over: the longest and the fullest are kept apart. */
const TASKS = 500;

/** A job of one operator, whose tasks run one after the other on worker 1; each is read twice. */
function runJob(model: SessionModel, number: number): void {
  const job = `job${number}` as JobId;
  let at = model.state.at + 1;
  const tell = (event: object) => model.take({ at, ...event } as RecordedEvent);
  const recipe = { functions: ["map"], sql: [], files: 0, request: { cpu: 1, gpu: 0, memory: 0 } };
  const operator = { id: 0, name: "map", kind: "tasks", place: "worker", inputs: [], tasks: TASKS, recipe };
  tell({ type: "jobStarted", job, operators: [operator] });
  for (let index = 0; index < TASKS; index++) {
    const task = `${job}/0/${index}` as TaskId;
    tell({ type: "taskFormed", task, job, operator: 0, index, bytesIn: null });
    tell({ type: "task", task, to: "running", worker: 1 });
    for (const ms of [200, 200]) {
      at += ms;
      if (index % 50 === 0) model.take({ ...reading(at, 1), at } as RecordedEvent);
    }
    tell({ type: "taskDone", task, wall: index, ...FIGURES, peakMemory: index });
    tell({ type: "task", task, to: "unplaced" });
    tell({ type: "task", task, to: "over" });
  }
  tell({ type: "job", job, to: "gone" });
}

test("[W2] however many jobs there were, a session's state and the dashboard's model keep about as much", () => {
  const model = new SessionModel();
  model.take({ at: 0, type: "workerStarting", worker: 1 as WorkerId, kind: "worker", limit: 2 ** 30 });
  const sizes = () => {
    const { jobs: _, ...rest } = snapshotOf(model.state);
    const figures = [...model.operators.values()];
    const cards = (kept: Top<TaskCard>) => kept.items.length;
    return {
      state: JSON.stringify(rest).length,
      cards: figures.reduce((sum, { longest, fullest }) => sum + cards(longest) + cards(fullest), 0),
      curves: figures.reduce((sum, { curves }) => sum + Object.keys(curves.fullest().memory.values).length, 0),
      shown: model.series.peaks.highest(1_000).length,
    };
  };
  for (let number = 0; number < 200; number++) runJob(model, number);
  const early = sizes();
  for (let number = 200; number < 600; number++) runJob(model, number);
  const late = sizes();
  // Time buckets have a bound, and their width is a matter of the session's length.
  expect(late.state).toBeLessThan(1.5 * early.state);
  // The newest ten jobs with 400 tasks each; at most 256 operators with 40.
  expect(late.cards).toBeLessThanOrEqual(10 * 400 + 256 * 40);
  expect(late.curves).toBeLessThanOrEqual(10 * 10 + 256 * 2);
  expect(late.shown).toBeLessThanOrEqual(400);
  const newest = model.operators.get("job599/0");
  expect([newest?.longest.items.length, newest?.longest.seen]).toEqual([200, TASKS]);
  const older = model.operators.get("job550/0");
  expect([older?.longest.items.map(({ index }) => index).slice(0, 2), older?.longest.seen]).toEqual([
    [499, 498],
    TASKS,
  ]);
});

test("[W2] a point of many operators keeps those with the most memory", () => {
  const series = new PointSeries(100, highestOf(3));
  for (const [i, name] of ["a", "b", "c", "d", "e"].entries())
    series.add({ at: i * 10, values: { [name]: (i * 7) % 5 } });
  expect(series.all().values).toEqual({ b: [2], c: [4], e: [3] });
});

test("[W2] pages that follow share an answer of the last half second; a fixed view gets its own", () => {
  const model = new SessionModel();
  const shared = new SharedStream(model);
  const first = shared.following({ from: 0, to: 10_000, width: 500 });
  expect(shared.following({ from: 0, to: 10_400, width: 500 })).toBe(first);
  expect(JSON.parse(first)).toMatchObject({ from: 0, to: 10_000 });
  expect(JSON.parse(shared.following({ from: 0, to: 10_400, width: 600 }))).toMatchObject({ to: 10_400 });
  expect(JSON.parse(shared.following({ from: 200, to: 10_900, width: 600 }))).toMatchObject({ from: 200, to: 10_900 });
  expect(JSON.parse(shared.following({ from: 5_000, to: 10_950, width: 600 }))).toMatchObject({ from: 5_000 });
});

const WORKERS = 300;

function reading(at: number, count = WORKERS): RecordedEvent {
  const kinds = { process: at, managed: 0, unmanaged: 0, recent: at, spilled: 0, private: at, shared: 0, children: 0 };
  const workers = Array.from({ length: count }, (_, i) => {
    return { worker: (i + 1) as WorkerId, pressure: "normal" as const, ...kinds };
  });
  const own = { private: 1, shared: 1, children: 0 };
  const store = { resident: 0, onDisk: 0, files: 0 };
  return { at, type: "memory", workers, supervisor: own, program: own, store, workerLimit: null, limit: null };
}

test("[W2] a page that does not read is left out, and gets a new snapshot when it has read", async () => {
  const model = new SessionModel();
  for (let worker = 1; worker <= WORKERS; worker++) {
    model.take({ at: 0, type: "workerStarting", worker: worker as WorkerId, kind: "worker", limit: 2 ** 30 });
  }
  const files = new StaticFiles("/nowhere");
  const dashboard = new DashboardServer(model, { token: "of-this-test", place: { logs: "/nowhere" }, files });
  dashboard.server.listen(0, "127.0.0.1");
  await once(dashboard.server, "listening");
  const { port } = dashboard.server.address() as AddressInfo;
  const page = connect(port, "127.0.0.1");
  page.write("GET /api/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer of-this-test\r\n\r\n");
  await expect.poll(() => dashboard.pages.size).toBe(1);
  let said = "";
  const count = (name: string) => said.split(`event: ${name}\n`).length - 1;
  // About 60 MiB, which neither the system nor the dashboard keeps for it.
  for (let at = 1; at <= 600; at++) {
    model.take(reading(at * 1_000));
    dashboard.pages.update();
    if (at % 50 === 0) await new Promise(setImmediate);
  }
  page.on("data", (piece: Buffer) => {
    said += piece.toString("latin1");
  });
  // The system's buffers empty now and then, hence more than one.
  const last = () => said.slice(said.lastIndexOf("event: snapshot"));
  await expect.poll(last).toContain('"process":600000');
  expect(count("snapshot")).toBeGreaterThanOrEqual(2);
  expect(count("patch")).toBeLessThan(500);
  // From here on it gets every patch again.
  const before = count("patch");
  model.take(reading(601_000));
  dashboard.pages.update();
  await expect.poll(() => count("patch")).toBe(before + 1);
  page.destroy();
  dashboard.close();
  await new Promise((resolve) => dashboard.server.close(resolve));
});
