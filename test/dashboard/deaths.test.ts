/** The page of deaths: real kills and real wants of memory, on a running session and from its file. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { OutOfMemoryError } from "spillway";
import { expect, test } from "vitest";
import type { DeathCard, Happened, SessionCard, TaskStream, TotalsCard, WorkerCard } from "../../src/dashboard/api.ts";
import { serveSession } from "../../src/dashboard/index.ts";
import { testSessions } from "../support/sessions.ts";
import { Page } from "./page.ts";

const sessions = testSessions("dashboard-deaths");

test("[M12] a want of memory is told with its attempts, curves, what ran beside it and the remedies", async () => {
  const file = join(sessions.directory, "numbers.csv");
  writeFileSync(file, `n\n${Array.from({ length: 100 }, (_, n) => n).join("\n")}\n`);
  const s = sessions.open({ workers: 2, memoryLimit: "256 MiB", maxOomRetries: 1 });
  const failed = s
    .readCsv<{ n: number }>(file)
    .map(async function greedy(row) {
      const held: Buffer[] = [];
      for (;;) {
        held.push(Buffer.alloc(8 * 2 ** 20, 1));
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (held.length > 1_000) return row;
      }
    })
    .takeAll()
    .catch((error: unknown) => error);
  await expect.poll(() => s.dashboardUrl).not.toBe(null);
  const page = await (await Page.open(s.dashboardUrl)).follow();
  expect(await failed).toBeInstanceOf(OutOfMemoryError);
  await expect.poll(async () => (await page.get<DeathCard[]>("/api/deaths")).length).toBeGreaterThanOrEqual(2);
  const deaths = await page.get<DeathCard[]>("/api/deaths");
  for (const death of deaths) {
    expect(death).toMatchObject({ isMemory: true, files: [file] });
    // The second attempt has a larger worker.
    expect(death.limit).toBeGreaterThanOrEqual(256 * 2 ** 20);
    expect(death.operator).toContain("map");
    expect(death.task).toMatch(/\/0\/0$/);
  }
  const [last] = deaths;
  expect(last?.attempts.map(({ text }) => text.slice(0, 10))).toEqual(["Attempt 1:", "Attempt 2:"]);
  expect(last?.attempts[0]?.text).toMatch(/MiB of 256 MiB/);
  expect(last?.attempts[1]?.text).toContain("and the job failed");
  expect(last?.remedies.length).toBeGreaterThan(0);
  expect(last?.remedies.join()).toMatch(/\d/);
  const memoryDeaths = deaths.filter(({ signal }) => signal !== null).length;
  await expect.poll(() => page.entry<TotalsCard>("totals")).toMatchObject({ memoryDeaths, oomRetries: 1 });
  const { directory } = page.entry<SessionCard>("session");
  await s.close();
  const served = await serveSession({ directory, live: null, port: 8787, token: "of-this-test" });
  const late = await Page.open(served.url);
  expect(await late.get<DeathCard[]>("/api/deaths")).toEqual(deaths);
  await served.close();
});

test("[M12] a worker that was killed is told with its last seconds, its task is marked, its slot is taken again", async () => {
  const s = sessions.open({ workers: 1 });
  const rows = s
    .range(40, { overrideNumBlocks: 4 })
    .map(
      async function slow(row) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        return { id: row.id };
      },
      { maxInFlight: 1 },
    )
    .takeAll();
  await expect.poll(() => s.dashboardUrl).not.toBe(null);
  const page = await (await Page.open(s.dashboardUrl)).follow();
  await expect.poll(() => page.all<WorkerCard>("worker/")[0]?.task?.operator).toContain("map(slow)");
  const [worker] = page.all<WorkerCard>("worker/");
  await new Promise((resolve) => setTimeout(resolve, 600));
  process.kill(worker?.pid ?? 0, "SIGKILL");
  expect(await rows).toHaveLength(40);
  await expect.poll(async () => (await page.get<DeathCard[]>("/api/deaths")).length).toBe(1);
  const [death] = await page.get<DeathCard[]>("/api/deaths");
  expect(death).toMatchObject({
    worker: worker?.id,
    pid: worker?.pid,
    signal: "SIGKILL",
    log: `worker-${worker?.id}.log`,
  });
  expect(death?.curve.length).toBeGreaterThan(2);
  expect(death?.attempts[0]?.text).toMatch(/^Attempt 1: its worker crashed/);
  await expect.poll(() => page.all<WorkerCard>("worker/")[0]?.restarts).toBe(1);
  const { lanes } = await page.get<TaskStream>("/api/tasks?width=100000");
  const workers = lanes.filter(({ kind }) => kind === "worker");
  expect(workers.map(({ name }) => name)).toEqual(["slot 1"]);
  expect(workers[0]?.spans.map(([, , , kind]) => kind)).toContain("killed");
  const lines = page.entry<Happened[]>("happened");
  expect(lines.map(({ type }) => type)).toEqual(expect.arrayContaining(["workerGone", "retry"]));
  expect(lines.find(({ type }) => type === "workerGone")?.text).toMatch(
    /^Worker \d+ \(process \d+\) ended during range->map \(signal\)/,
  );
  page.close();
  await s.close();
});
