/** Real sessions that are hard on the pages: jobs over 5,000 columns, and events faster than anybody reads. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { col } from "spillway";
import { expect } from "vitest";
import type { JobCard } from "../../src/dashboard/api.ts";
import { Page as PageWithoutBrowser } from "../dashboard/page.ts";
import { lastSession, testSessions } from "../support/sessions.ts";
import { expectNoOverflow, go, keepPicture, testBrowser, threadShare, withChromium } from "./support/browser.ts";

const { test } = withChromium;
const sessions = testSessions("browser-hostile");
const browser = testBrowser("hostile");
const COLUMNS = Array.from({ length: 5_000 }, (_none, index) => `column_${index}`);
/** The most characters of a text in a page. A SQL text is cut after 4,000. */
const MOST_TEXT = 5_000;
/** The most characters that every open page gets at once, twice a second. */
const MOST_PATCH = 32 * 1024;

/** The most characters of one text, and of all texts together, with what is folded away. */
function textsOf(page: Page): Promise<{ readonly longest: number; readonly all: number }> {
  return page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let [longest, all] = [0, 0];
    while (walker.nextNode() !== null) {
      const { length } = walker.currentNode.textContent ?? "";
      longest = Math.max(longest, length);
      all += length;
    }
    return { longest, all };
  });
}

test("[W1] [W5] a real job over 5,000 columns, and one that fails with all their names, keep pages and report small", async () => {
  const s = sessions.open({ workers: 2 });
  await s.resources();
  const { page, errors } = await browser.open(s.dashboardUrl ?? "");
  await page.getByText("No job has started.").waitFor();
  const follower = await (await PageWithoutBrowser.open(s.dashboardUrl)).follow();
  const widened = s.range(20).map(function widen(row): Record<string, number> {
    return Object.fromEntries(COLUMNS.map((name, index) => [name, row.id * index]));
  });
  const wide = widened
    .select(...COLUMNS.map((name) => col(name).add(1).as(name)))
    .map(function sumUp(row): Record<string, number> {
      return { ...row, sum: COLUMNS.reduce((sum, name) => sum + (row[name] ?? 0), 0) };
    })
    .sort("column_1");
  const rows = await wide.takeAll();
  expect([rows.length, Object.keys(rows[0] ?? {}).length]).toEqual([20, 5_001]);
  await page.getByText("Finished after").waitFor();
  const [succeeded] = follower.all<JobCard>("job/").map(({ id }) => id);
  const failing = widened.map(function refuse(row): { sum: number } {
    throw new Error(`none of ${Object.keys(row).join(", ")} is wanted`);
  });
  await expect(failing.takeAll()).rejects.toThrow("column_4999");
  await page.locator(".job-line").getByText("Failed after").waitFor();
  for (const [path, text] of [
    ["status", "Task stream"],
    ["plan", "Operators"],
    ["memory", "Memory by operator"],
    ["events", "column_1"],
    ["workers", "Descriptors"],
    ["settings", "objectStoreMemory"],
  ] as const) {
    await go(page, path);
    await page.getByText(text).first().waitFor();
    expect((await textsOf(page)).longest, path).toBeLessThanOrEqual(MOST_TEXT);
    await expectNoOverflow(page);
  }
  await go(page, `plan/${succeeded}`);
  await page
    .getByRole("link", { name: /map\(sumUp\)/ })
    .first()
    .click();
  await page.getByText("What its tasks do").waitFor();
  await page.getByText("SQL 2", { exact: true }).click();
  await page.getByText("characters more").first().waitFor();
  expect((await textsOf(page)).longest).toBeLessThanOrEqual(MOST_TEXT);
  await expectNoOverflow(page);
  await keepPicture(page, "operator-5000-columns");
  expect(errors).toEqual([]);
  expect(follower.largestPatch).toBeLessThan(MOST_PATCH);
  follower.close();

  const path = join(sessions.directory, "report.html");
  await s.report(path);
  const report = await browser.open(pathToFileURL(path).href);
  await report.page.getByText("map(refuse)").first().waitFor({ state: "attached" });
  const texts = await textsOf(report.page);
  expect(texts.longest).toBeLessThanOrEqual(MOST_TEXT);
  expect(texts.all).toBeLessThan(50_000);
  await expectNoOverflow(report.page);
  expect(report.errors).toEqual([]);
  await s.close();
});

test("[W1] [W2] 200 real events a second reach an open page in deltas of bounded number and size, and it stays usable", async () => {
  const s = sessions.open({ workers: 2 });
  await s.resources();
  const session = lastSession(sessions);
  const { page, errors } = await browser.open(s.dashboardUrl ?? "");
  const follower = await (await PageWithoutBrowser.open(s.dashboardUrl)).follow();
  await page.getByText("No job has started.").waitFor();
  const jobs = { ended: 0, areWanted: true };
  const made = (async () => {
    for (; jobs.areWanted; jobs.ended++) {
      const tiny = s.range(400, { overrideNumBlocks: 400 }).map((row) => ({ id: -row.id }));
      expect(await tiny.count()).toBe(400);
    }
  })();
  try {
    await expect.poll(() => jobs.ended).toBeGreaterThan(0);
    const [patches, from] = [follower.patches, performance.now()];
    // Of the thread that draws and answers clicks: on a machine that has other things to do, clocks say little.
    expect(await threadShare(page, 3_000)).toBeLessThan(0.8);
    for (const [path, text] of [
      ["plan", "Operators"],
      ["events", "Nothing of note has happened."],
      ["workers", "Descriptors"],
      ["memory", "Memory by operator"],
      ["status", "Task stream"],
    ] as const) {
      await go(page, path);
      await page.getByText(text).first().waitFor();
    }
    // Two a second, and one more when a page opens.
    expect(follower.patches - patches).toBeLessThanOrEqual((performance.now() - from) / 500 + 3);
    expect(follower.largestPatch).toBeLessThan(MOST_PATCH);
  } finally {
    jobs.areWanted = false;
    await made;
  }
  await keepPicture(page, "status-many-events");
  follower.close();
  expect(errors).toEqual([]);
  await s.close();
  const events: { at: number; type: string }[] = readFileSync(
    join(sessions.stateDirectory, session, "events.jsonl"),
    "utf8",
  )
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const first = events.find(({ type }) => type === "jobStarted")?.at ?? 0;
  const seconds = ((events.at(-1)?.at ?? 0) - first) / 1_000;
  expect(events.length / seconds).toBeGreaterThan(200);
});
