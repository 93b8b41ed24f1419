/** Heap profiles and reports from the dashboard. */
import { expect, test } from "vitest";
import type { FlameProfile, ProfileFile, WorkerCard } from "../../src/dashboard/api.ts";
import { testSessions } from "../support/sessions.ts";
import { Page } from "./page.ts";

const sessions = testSessions("dashboard-profiles");
const JSON_TYPE = { "content-type": "application/json" };

test("[W1] a worker is profiled from the page; the file and its flame graph are there", async () => {
  const s = sessions.open({ workers: 1 });
  const rows = s
    .range(60)
    .map(
      async function keeping(row) {
        const kept = Array.from({ length: 20_000 }, (_, i) => ({ i, text: `${row.id} ${i}` }));
        await new Promise((resolve) => setTimeout(resolve, 50));
        return { id: kept.length };
      },
      { maxInFlight: 1 },
    )
    .takeAll();
  await expect.poll(() => s.dashboardUrl).not.toBe(null);
  const page = await (await Page.open(s.dashboardUrl)).follow();
  await expect.poll(() => page.all<WorkerCard>("worker/")[0]?.task?.operator).toContain("map(keeping)");
  const worker = page.all<WorkerCard>("worker/")[0]?.id;
  const made = await page.ask("/api/profiles", JSON_TYPE, "POST", JSON.stringify({ worker, seconds: 1 }));
  expect(made).toMatchObject({ status: 200 });
  const file: ProfileFile = JSON.parse(made.text);
  expect(file).toMatchObject({ worker, name: expect.stringMatching(/\.heapprofile$/) });
  expect(await page.get("/api/profiles")).toContainEqual(file);
  const path = `/api/profiles/${encodeURIComponent(file.name)}`;
  const { headers, text } = await page.ask(path);
  expect(headers["content-disposition"]).toContain(".heapprofile");
  expect(JSON.parse(text)).toHaveProperty("head");
  const flame = await page.get<FlameProfile>(`${path}/flame`);
  expect(JSON.stringify(flame.views)).toContain("keeping");
  for (const body of [
    "",
    "[]",
    '{"worker":1}',
    '{"worker":1.5,"seconds":1}',
    '{"worker":1,"seconds":1e9}',
    "x".repeat(9_000),
  ]) {
    expect([400, 413], body.slice(0, 40)).toContain((await page.ask("/api/profiles", JSON_TYPE, "POST", body)).status);
  }
  const unknown = await page.ask("/api/profiles", JSON_TYPE, "POST", '{"worker":99,"seconds":1}');
  expect(unknown.status).toBe(409);
  expect(unknown.text).toContain("99");
  expect((await page.ask("/api/profiles/..%2fevents.jsonl")).status).toBe(404);
  expect(await rows).toHaveLength(60);
  page.close();
  await s.close();
});

test("[W1] the report is one page that runs nothing", async () => {
  const s = sessions.open({ workers: 1 });
  await s
    .range(10)
    .map((row) => ({ id: row.id }))
    .takeAll();
  const page = await Page.open(s.dashboardUrl);
  const { status, headers, text } = await page.ask("/api/report");
  expect(status).toBe(200);
  expect(headers["content-disposition"]).toMatch(/^attachment; filename="spillway-.*\.html"$/);
  expect(headers["content-security-policy"]).toContain("sandbox");
  expect(text).toContain("<!doctype html>");
  expect(text).not.toContain("<script");
  await s.close();
});
