/** Names and logs that want to be more than text, and sessions larger than a page can draw. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { LogText, OperatorDetails, TaskStream, WorkerCard } from "../../src/dashboard/api.ts";
import { serveSession } from "../../src/dashboard/index.ts";
import type { OperatorRecipe } from "../../src/protocol/index.ts";
import { inventedStart, TEN_ROWS } from "../support/invented-events.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { Page } from "./page.ts";

const root = temporaryDirectory("dashboard-hostile");
const HTML = `<img src=x onerror="alert(1)"></pre><script>alert('x')</script>&amp;`;
const WORKERS = 300;
const TASKS = 100_000;

/** The event file of a session that nobody has run. */
function invented(name: string, lines: Iterable<unknown>): string {
  const directory = join(root, name);
  mkdirSync(directory, { mode: 0o700 });
  const path = join(directory, "events.jsonl");
  writeFileSync(path, "", { mode: 0o600 });
  let text = "";
  for (const line of lines) {
    text += `${JSON.stringify(line)}\n`;
    if (text.length < 2 ** 20) continue;
    appendFileSync(path, text);
    text = "";
  }
  appendFileSync(path, text);
  return directory;
}

function operator(id: number, name: string) {
  const skipped = { files: 0, rowGroups: 0, rows: 0, columns: 0 };
  const tells = { functions: [`map(${name})`], sql: [HTML], files: 0, request: { cpu: 1, gpu: 0, memory: 0 } };
  const most = { concurrency: 1, batchSize: null, maxRetries: 3, maxOomRetries: 3 };
  const recipe: OperatorRecipe = {
    input: "splits",
    flowsFrom: [],
    ...tells,
    ...most,
    skipped,
    learned: null,
    appetite: null,
    sink: "blocks",
  };
  return { id, name: `map`, kind: "tasks", place: "worker", inputs: [], tasks: 1, recipe };
}

function* start(operators: readonly unknown[], workers = 1) {
  yield* inventedStart(workers, { session: HTML, host: HTML });
  yield { at: 2, type: "jobStarted", job: "job", operators };
}

function* hundredThousandTasks() {
  yield* start([operator(0, "one"), operator(1, "two")], WORKERS);
  const figures = { ...TEN_ROWS, bytesOut: 100, wall: 4, cpu: 1, peakMemory: 2 ** 27, addedMemory: 2 ** 26 };
  for (let round = 0; round * WORKERS < TASKS; round++) {
    const from = 10 + round * 5;
    for (let worker = 1; worker <= WORKERS; worker++) {
      const index = round * WORKERS + worker - 1;
      const task = `job/${index % 2}/${index}`;
      const half = index % 2;
      yield { at: from, type: "taskFormed", task, job: "job", operator: half, index, bytesIn: null };
      yield { at: from, type: "task", task, to: "running", worker };
    }
    for (let worker = 1; worker <= WORKERS; worker++) {
      const index = round * WORKERS + worker - 1;
      const task = `job/${index % 2}/${index}`;
      yield { at: from + 4, type: "taskDone", task, ...figures };
      yield { at: from + 4, type: "task", task, to: "over" };
    }
    if (round % 40 === 0) yield reading(from + 4);
  }
}

function reading(at: number) {
  const kinds = { process: 10, managed: 2, unmanaged: 3, recent: 5, spilled: 0, private: 10, shared: 1, children: 0 };
  const workers = Array.from({ length: WORKERS }, (_, i) => ({ worker: i + 1, pressure: "normal", ...kinds }));
  const own = { private: 1, shared: 1, children: 0 };
  const store = { resident: 0, onDisk: 0, files: 0 };
  return { at, type: "memory", workers, supervisor: own, program: own, store, workerLimit: null, limit: null };
}

async function served<Result>(directory: string, use: (page: Page) => Promise<Result>): Promise<Result> {
  const serving = await serveSession({ directory, live: null, port: 8787, token: "of-this-test" });
  const page = await Page.open(serving.url);
  try {
    return await use(page);
  } finally {
    page.close();
    await serving.close();
  }
}

test("[W1] names with HTML and quotes stay text, in JSON and in metrics", async () => {
  const lines = [
    ...start([operator(0, HTML)]),
    { at: 3, type: "taskFormed", task: "t", job: "job", operator: 0, index: 0, bytesIn: null },
    { at: 4, type: "taskFailed", task: "t", files: [HTML], error: { name: HTML, message: HTML } },
    { at: 5, type: "jobFailed", job: "job", error: { name: HTML, message: HTML } },
  ];
  await served(invented("html", lines), async (page) => {
    await page.follow();
    expect(page.operators()[0]?.plan.recipe?.functions).toEqual([`map(${HTML})`]);
    expect(JSON.stringify(page.entry("happened"))).toContain("onerror");
    for (const path of ["/api/deaths", "/api/tasks", "/api/blocks", "/api/operators/job/0"]) {
      expect((await page.ask(path)).headers["content-type"], path).toMatch(/^application\/json/);
    }
    const refused = await page.ask(`/api/logs/${encodeURIComponent(HTML)}`);
    expect(refused).toMatchObject({ status: 404, text: expect.stringContaining("<img") });
    expect(refused.headers["content-type"]).toMatch(/^text\/plain/);
    const { text: metrics } = await page.ask("/metrics");
    for (const line of metrics.split("\n")) expect(line).toMatch(/^(#.*|spillway_\w+(\{.*\})? [\d.e+-]+|)$/);
  });
});

test("[W1] a log line of 10 MB and bytes that are no text are shown in pages, found, and sent as they are", async () => {
  const directory = invented("log", start([operator(0, "one")]));
  const long = `begin ${"x".repeat(5_000_000)} needle ${"y".repeat(5_000_000)}`;
  const body = Buffer.concat([
    Buffer.from(`${HTML}\n${long}\n`),
    Buffer.from([0xff, 0xfe, 0, 10]),
    Buffer.from("end\n"),
  ]);
  writeFileSync(join(directory, "worker-7.log"), body);
  await served(directory, async (page) => {
    expect(await page.get("/api/logs")).toMatchObject([{ name: "worker-7.log", bytes: body.length, worker: 7 }]);
    const last = await page.get<LogText>("/api/logs/worker-7.log?find=NEEDLE");
    expect(last).toMatchObject({ size: body.length, to: body.length, found: { total: 1 } });
    expect(last.text.length).toBeLessThanOrEqual(256 * 1024);
    expect(last.text.endsWith("end\n")).toBe(true);
    expect(last.found?.lines[0]?.text).toContain(" needle ");
    expect(last.found?.lines[0]?.text.length).toBeLessThan(3_000);
    const first = await page.get<LogText>("/api/logs/worker-7.log?from=0");
    expect(first.text.startsWith(HTML)).toBe(true);
    expect((await page.ask("/api/logs/worker-7.log?from=-1")).status).toBe(400);
    const { headers, text } = await page.ask("/api/logs/worker-7.log/download");
    expect(headers["content-disposition"]).toBe('attachment; filename="worker-7.log"');
    expect(headers["content-type"]).toMatch(/^text\/plain/);
    expect(text.length).toBeGreaterThan(10_000_000);
  });
});

test("[W1] 300 workers and 100,000 tasks come to a drawing that a browser can draw, and none is lost", async () => {
  await served(invented("large", hundredThousandTasks()), async (page) => {
    await page.follow();
    expect(page.all<WorkerCard>("worker/")).toHaveLength(WORKERS);
    const { text } = await page.ask("/api/tasks?width=1600");
    expect(text.length).toBeLessThan(8 * 2 ** 20);
    const { lanes, leftOut }: TaskStream = JSON.parse(text);
    expect(lanes).toHaveLength(WORKERS);
    expect(leftOut).toBe(0);
    const count = (spans: TaskStream["lanes"][number]["spans"]) =>
      spans.reduce((sum, [, , , , tasks]) => sum + tasks, 0);
    const all = Math.ceil(TASKS / WORKERS) * WORKERS;
    expect(lanes.reduce((sum, { spans }) => sum + count(spans), 0)).toBe(all);
    // A part of the time in more detail.
    const part = await page.get<TaskStream>("/api/tasks?from=10&to=60&width=1600");
    for (const { spans } of part.lanes) expect(spans.length).toBeGreaterThanOrEqual(10);
    const details = await page.get<OperatorDetails>("/api/operators/job/0");
    expect(details.tasks.length).toBeLessThanOrEqual(400);
    expect(details.tasks.length + details.tasksLeftOut).toBe(all / 2);
    expect(page.operators()[0]).toMatchObject({ done: all / 2 });
  });
});
