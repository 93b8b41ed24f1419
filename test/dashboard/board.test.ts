/** What pages are shown of real work: live, and from the event file of a session that has ended. */
import { join } from "node:path";
import { expect, test } from "vitest";
import type {
  BlocksView,
  JobCard,
  OperatorCard,
  OperatorDetails,
  Series,
  SessionCard,
  TaskCard,
  TaskStream,
  TotalsCard,
  WorkerCard,
} from "../../src/dashboard/api.ts";
import { serveSession } from "../../src/dashboard/index.ts";
import { testSessions } from "../support/sessions.ts";
import { Page } from "./page.ts";

const sessions = testSessions("dashboard-board");

test("[W1] [K9] [K10] [M10] a spilling job is shown while it runs, and its blocks with who holds them", async () => {
  const s = sessions.open({ workers: 2, objectStoreMemory: "2 MiB" });
  await s
    .range(1)
    .map((row) => ({ id: row.id }))
    .takeAll();
  const page = await (await Page.open(s.dashboardUrl)).follow();
  const kept = await s
    .range(200_000, { overrideNumBlocks: 20 })
    .map(function padded(row) {
      return { id: row.id, text: String(row.id).padStart(40) };
    })
    .materialize();
  await expect.poll(() => page.all<JobCard>("job/").filter(({ phase }) => phase === "gone").length).toBe(2);
  const padded = page.operators().find(({ plan }) => plan.recipe?.functions.includes("map(padded)"));
  expect(padded).toMatchObject({ done: 20, rowsOut: 200_000, ended: true, running: 0, waiting: 0 });
  expect(padded?.plan.recipe?.functions).toEqual(["map(padded)"]);
  const totals = page.entry<TotalsCard>("totals");
  expect(totals.spilledBytes).toBeGreaterThan(4 * 2 ** 20);
  expect(totals.tasks).toEqual({ running: 0, waiting: 0, done: 21 });
  const { managed, unmanaged, recent, process } = totals.kinds;
  expect(managed + unmanaged + recent).toBe(process);
  const workers = page.all<WorkerCard>("worker/");
  expect(workers.length).toBe(2);
  for (const { kinds, colour, descriptors } of workers) {
    expect(["blue", "orange", "red"]).toContain(colour);
    expect(descriptors).toBeGreaterThan(3);
    if (kinds !== null) expect(kinds.managed + kinds.unmanaged + kinds.recent).toBe(kinds.process);
  }
  expect(workers.reduce((sum, { kinds }) => sum + (kinds?.spilled ?? 0), 0)).toBe(totals.kinds.spilled);
  await expect.poll(() => page.entry<Series>("series/memory").t.length).toBeGreaterThan(2);
  const memory = page.entry<Series>("series/memory");
  expect([...memory.t]).toEqual([...memory.t].sort((one, two) => one - two));
  for (const column of Object.values(memory.values)) expect(column.length).toBe(memory.t.length);

  const stream = () => page.get<TaskStream>("/api/tasks?width=100000");
  const spansOf = ({ lanes }: TaskStream) =>
    lanes.filter(({ kind }) => kind === "worker").flatMap(({ spans }) => spans);
  // In a store that is too small a task may stand back for another one, and run again.
  await expect
    .poll(async () => spansOf(await stream()).reduce((sum, [, , , , count]) => sum + count, 0))
    .toBeGreaterThanOrEqual(21);
  const shown = await stream();
  const { lanes, operators } = shown;
  const tasks = spansOf(shown);
  expect(new Set(tasks.map(([, , operator]) => operators[operator]?.name)).size).toBe(2);
  expect(lanes.find(({ kind }) => kind === "disk")?.spans.map(([, , , kind]) => kind)).toContain("spill");

  const { groups, blocks } = await page.get<BlocksView>("/api/blocks");
  const group = groups.find(({ operator }) => operator.includes("padded"));
  expect(group).toMatchObject({ holders: ["program"], key: `${padded?.job}/${padded?.id}` });
  expect(group?.onDisk).toBeGreaterThan(0);
  expect(group?.blocks).toBe(padded === undefined ? 0 : blocks.filter(({ rows }) => rows > 0).length);
  expect(blocks.reduce((sum, { rows }) => sum + rows, 0)).toBe(200_000);
  kept.dispose();
  await expect
    .poll(async () => (await page.get<BlocksView>("/api/blocks")).blocks.filter((b) => b.rows > 0))
    .toEqual([]);
  page.close();
  await s.close();
});

test("[M6] an operator's page has its tasks, each with its memory over time", async () => {
  const s = sessions.open({ workers: 2 });
  const rows = s
    .range(8, { overrideNumBlocks: 8 })
    .map(async function holding(row) {
      const held = Buffer.alloc(60 * 2 ** 20, 1);
      await new Promise((resolve) => setTimeout(resolve, 500));
      return { id: row.id, bytes: held.length };
    })
    .takeAll();
  await expect.poll(() => s.dashboardUrl).not.toBe(null);
  const page = await (await Page.open(s.dashboardUrl)).follow();
  const card = () => page.operators().find(({ plan }) => plan.recipe?.functions.includes("map(holding)"));
  await expect.poll(() => card()?.memoryNow ?? 0).toBeGreaterThan(60 * 2 ** 20);
  const detailed = () => page.get<OperatorDetails>(`/api/operators/${card()?.job}/${card()?.id}`);
  const isHolding = ({ phase, memory, peakMemory }: TaskCard) =>
    phase === "running" && (memory ?? 0) > 60 * 2 ** 20 && peakMemory >= (memory ?? 0);
  await expect.poll(async () => (await detailed()).tasks.some(isHolding)).toBe(true);
  expect(await rows).toHaveLength(8);
  await expect.poll(() => card()?.ended).toBe(true);
  const details = await detailed();
  expect(details.tasks).toHaveLength(8);
  expect(details.tasksLeftOut).toBe(0);
  for (const { phase, attempts, rowsOut, startedAt, endedAt } of details.tasks) {
    expect({ phase, attempts, rowsOut }).toEqual({ phase: "done", attempts: 1, rowsOut: 1 });
    expect((endedAt ?? 0) - (startedAt ?? 0)).toBeGreaterThan(450);
  }
  const peak = Math.max(
    ...Object.values(details.memory.values)
      .flat()
      .map((bytes) => bytes ?? 0),
  );
  expect(peak).toBeGreaterThan(60 * 2 ** 20);
  const runs = details.tasks.map(({ index }) => `task ${index}`);
  expect(runs).toEqual(expect.arrayContaining(Object.keys(details.memory.values)));
  const series = page.entry<Series>("series/operators");
  expect(Object.keys(series.values)).toContain(`${card()?.job}/${card()?.id}`);
  page.close();
  await s.close();
});

test("[O1] the memory plan that the program is told is shown live, and for a session that has ended", async () => {
  const s = sessions.open({ workers: 3, objectStoreMemory: "64 MiB", targetMaxBlockSize: "4 MiB" });
  await s
    .range(1)
    .map((row) => row)
    .takeAll();
  const plan = String(s.memoryPlan())
    .split("\n")
    .map((line) => line.split(": "));
  expect(plan[0]).toEqual(["Expected heap memory usage", "12.6 MB (3 execution slots × max block size)"]);
  const page = await (await Page.open(s.dashboardUrl)).follow();
  const { directory, memoryPlan } = page.entry<SessionCard>("session");
  expect(memoryPlan).toEqual(plan);
  page.close();
  await s.close();
  const served = await serveSession({ directory, live: null, port: 8787, token: "of-this-test" });
  const late = await (await Page.open(served.url)).follow();
  expect(late.entry<SessionCard>("session").memoryPlan).toEqual(plan);
  late.close();
  await served.close();
});

test("[W1] a page that comes late has the past, and a session that has ended is shown the same from its file", async () => {
  const s = sessions.open({ workers: 2 });
  const work = () =>
    s
      .range(20_000, { overrideNumBlocks: 10 })
      .map(function early(row) {
        return { id: row.id };
      })
      .sort("id")
      .takeAll();
  await work();
  await new Promise((resolve) => setTimeout(resolve, 400));
  const page = await (await Page.open(s.dashboardUrl)).follow();
  const countOf = ({ lanes }: TaskStream) =>
    lanes
      .filter(({ kind }) => kind !== "program")
      .flatMap(({ spans }) => spans)
      .reduce((sum, [, , , , n]) => sum + n, 0);
  const count = async (of: Page) => countOf(await of.get<TaskStream>("/api/tasks?width=100000"));
  await expect.poll(() => count(page)).toBe(11);
  await expect.poll(() => page.entry<Series>("series/memory").t.length).toBeGreaterThan(0);
  await work();
  await expect.poll(() => page.all<JobCard>("job/").filter(({ phase }) => phase === "gone").length).toBe(2);
  await expect.poll(() => count(page)).toBe(22);
  const { directory } = page.entry<SessionCard>("session");
  await s.close();
  await expect.poll(() => page.isOver).toBe(true);

  const served = await serveSession({ directory, live: null, port: 8787, token: "of-this-test" });
  const late = await (await Page.open(served.url)).follow();
  expect(late.entry<SessionCard>("session")).toMatchObject({ status: "ended", directory });
  const jobs = [...page.entries.keys()].filter((key) => key.startsWith("job/"));
  expect(jobs).toHaveLength(2);
  for (const key of jobs) expect(late.entry(key)).toEqual(page.entry(key));
  const rowsOf = (cards: OperatorCard[]) => cards.map(({ job, id, done, rowsOut }) => [job, id, done, rowsOut]);
  expect(rowsOf(late.operators())).toEqual(rowsOf(page.operators()));
  expect(countOf(await late.get<TaskStream>("/api/tasks?width=100000"))).toBe(22);
  expect((await late.ask("/api/logs")).text).toContain(join("supervisor.log"));
  late.close();
  await served.close();
});
