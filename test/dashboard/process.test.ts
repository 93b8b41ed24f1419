/** The dashboard's process: when it runs, and that nothing waits for it. */

import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { SessionCard } from "../../src/dashboard/api.ts";
import { serveSession } from "../../src/dashboard/index.ts";
import { isRunning } from "../support/processes.ts";
import { lastSession, processes, sessionNames, supervisorPid, testSessions } from "../support/sessions.ts";
import { ask, Page } from "./page.ts";

process.env.SPILLWAY_TEST_DASHBOARD_IDLE = "300";
afterAll(() => {
  delete process.env.SPILLWAY_TEST_DASHBOARD_IDLE;
});

const sessions = testSessions("dashboard-process");

function dashboardPids(name: string): number[] {
  return processes([name])
    .filter((line) => line.includes("dashboard/main"))
    .map((line) => Number(/process (\d+)/.exec(line)?.[1]));
}

async function started(more = {}) {
  const before = new Set(sessionNames(sessions.stateDirectory));
  const s = sessions.open({ workers: 1, ...more });
  expect(s.dashboardUrl).toBe(null);
  await work(s);
  const name = sessionNames(sessions.stateDirectory).find((each) => !before.has(each)) ?? lastSession(sessions);
  return { s, name, url: s.dashboardUrl ?? "" };
}

function work(s: ReturnType<typeof sessions.open>, rows = 10) {
  return s
    .range(rows)
    .map((row) => ({ id: row.id }))
    .takeAll();
}

test("[W2] its process starts with the first connection and ends when nobody has looked for a while", async () => {
  const { s, name, url } = await started();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]{32}$/);
  expect(dashboardPids(name)).toEqual([]);
  expect(readdirSync(join(sessions.stateDirectory, name))).not.toContain("dashboard.log");
  expect(await ask(new URL("/health", url))).toMatchObject({ status: 200, text: '{"status":"running"}' });
  const [first] = dashboardPids(name);
  expect(first).toBeGreaterThan(0);
  await expect.poll(() => dashboardPids(name)).toEqual([]);
  // As often as somebody looks.
  const page = await (await Page.open(url)).follow();
  expect(page.entry<SessionCard>("session")).toMatchObject({ name, status: "running" });
  const [second] = dashboardPids(name);
  expect(second).not.toBe(first);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(dashboardPids(name), "a page is open").toEqual([second]);
  page.close();
  await expect.poll(() => dashboardPids(name)).toEqual([]);
  await s.close();
  expect(s.dashboardUrl).toBe(null);
});

test("[W2] a dashboard that crashed is started again by the next connection, on the same port", async () => {
  const { s, name, url } = await started();
  const page = await (await Page.open(url)).follow();
  const [pid = 0] = dashboardPids(name);
  process.kill(pid, "SIGKILL");
  await expect.poll(() => isRunning(pid)).toBe(false);
  await expect.poll(async () => (await page.ask("/api/blocks").catch(() => null))?.status).toBe(200);
  expect(dashboardPids(name)).not.toEqual([pid]);
  expect(await work(s)).toHaveLength(10);
  await s.close();
});

test("[W2] connections on their way to a process that dies are closed, and the next one is answered", async () => {
  const { s, name, url } = await started();
  await (await Page.open(url)).follow();
  const [pid = 0] = dashboardPids(name);
  process.kill(pid, "SIGSTOP");
  const asked = Array.from({ length: 5 }, () => ask(new URL("/health", url)).catch(() => null));
  // Accepted by the supervisor, before or after the kill: none may be left waiting.
  await work(s);
  process.kill(pid, "SIGKILL");
  expect(await Promise.all(asked)).toHaveLength(5);
  await expect.poll(async () => (await ask(new URL("/health", url)).catch(() => null))?.status).toBe(200);
  await s.close();
});

test("[W2] a session never waits for a dashboard that stands still, and ends it", async () => {
  const { s, name, url } = await started();
  await (await Page.open(url)).follow();
  const [pid = 0] = dashboardPids(name);
  process.kill(pid, "SIGSTOP");
  // It is asked, too, and does not answer.
  const unanswered = ask(new URL("/health", url)).catch((error: NodeJS.ErrnoException) => error.code);
  expect(await work(s, 200_000)).toHaveLength(200_000);
  await s.close();
  expect(await unanswered).toMatch(/ECONNRESET|EPIPE/);
  expect(isRunning(pid)).toBe(false);
});

test("[W2] it ends with a supervisor that is killed; the session is shown from its file", async () => {
  const { s, name, url } = await started();
  const page = await (await Page.open(url)).follow();
  const pids = dashboardPids(name);
  expect(pids).toHaveLength(1);
  await new Promise((resolve) => setTimeout(resolve, 300));
  process.kill(supervisorPid(name), "SIGKILL");
  await expect.poll(() => pids.filter(isRunning)).toEqual([]);
  await expect.poll(() => page.isOver).toBe(true);
  expect(page.entry<SessionCard>("session").status).toBe("killed");
  const directory = join(sessions.stateDirectory, name);
  const served = await serveSession({ directory, live: null, port: 8787, token: "a token of this test" });
  const late = await (await Page.open(served.url)).follow();
  expect(late.entry<SessionCard>("session")).toMatchObject({ name, status: "killed" });
  expect(await ask(new URL("/health", served.url))).toMatchObject({ status: 503 });
  late.close();
  await served.close();
  await s.close();
});

test("[W2] pages are told the end of a session before their connection ends", async () => {
  const { s, url } = await started();
  const page = await (await Page.open(url)).follow();
  await s.close();
  await expect.poll(() => page.isOver).toBe(true);
  expect(page.entry<SessionCard>("session").status).toBe("ended");
});

test("[W1] where its port is taken, the next free one is used; with dashboard: false there is none", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const address = taken.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const { s, url } = await started({ dashboard: port });
  expect(Number(new URL(url).port)).toBeGreaterThan(port);
  expect((await ask(new URL("/health", url))).status).toBe(200);
  taken.close();
  const without = sessions.open({ workers: 1, dashboard: false });
  await work(without);
  expect(without.dashboardUrl).toBe(null);
  await without.close();
  await s.close();
});
