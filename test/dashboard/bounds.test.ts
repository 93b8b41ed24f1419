/** What keeps the dashboard small: series and spans with a bound, pages that do not read. */
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { expect, test } from "vitest";
import { DashboardServer, StaticFiles } from "../../src/dashboard/http/index.ts";
import { SessionModel } from "../../src/dashboard/model/index.ts";
import { fuller, PointSeries } from "../../src/dashboard/model/series.ts";
import { shownJobs } from "../../src/dashboard/model/shown-jobs.ts";
import { Spans } from "../../src/dashboard/model/spans.ts";
import { TaskCurves } from "../../src/dashboard/model/task-curves.ts";
import { Top } from "../../src/dashboard/model/top.ts";
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

const WORKERS = 300;

function reading(at: number): RecordedEvent {
  const kinds = { process: at, managed: 0, unmanaged: 0, recent: at, spilled: 0, private: at, shared: 0, children: 0 };
  const workers = Array.from({ length: WORKERS }, (_, i) => {
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
