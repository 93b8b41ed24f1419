/** The pages over real sessions: real spilling, real pauses, real deaths, in a real browser. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { Session } from "spillway";
import { expect } from "vitest";
import { startSpillway } from "../support/command-line.ts";
import { processes, sessionNames, supervisorPid, testSessions } from "../support/sessions.ts";
import { violations } from "./support/axe.ts";
import { go, keepPicture, testBrowser, withChromium } from "./support/browser.ts";

const { test } = withChromium;
const sessions = testSessions("browser");
const browser = testBrowser("sessions");
const gates = sessions.directory;

async function open(s: Session, colours: "light" | "dark" = "light") {
  await expect.poll(() => s.dashboardUrl).not.toBe(null);
  return browser.open(s.dashboardUrl ?? "", { colours });
}

/** Pixels of the task stream in a colour of the page. */
function streamPixels(page: Page, colour: string): Promise<number> {
  return page.evaluate((name) => {
    const canvas = document.querySelector<HTMLCanvasElement>(".stream-box canvas");
    // A copy is read, because the browser warns of a drawn canvas that is read often.
    const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const wanted = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    if (canvas === null || context === null || canvas.width === 0) return 0;
    context.canvas.width = canvas.width;
    context.canvas.height = canvas.height;
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    let found = 0;
    for (let at = 0; at < data.length; at += 4) {
      const hex = [0, 1, 2].map((part) => (data[at + part] ?? 0).toString(16).padStart(2, "0")).join("");
      if (`#${hex}` === wanted) found++;
    }
    return found;
  }, colour);
}

test("[W1] [K10] a spilling job is shown while it runs: grey bars, orange disk, progress, and then its end", async () => {
  const s = sessions.open({ workers: 2, objectStoreMemory: "48 MiB", memoryLimit: "512 MiB" });
  const kept = s
    .range(48, { overrideNumBlocks: 48 })
    .map(function readings(row) {
      const until = performance.now() + 60;
      while (performance.now() < until);
      return { id: row.id, text: String.fromCharCode(97 + (row.id % 26)).repeat(2 ** 21) };
    })
    .filter(function plausible(row) {
      return row.text.length > 0;
    })
    .sort("id")
    .map(function summary(row) {
      return { id: row.id, text: row.text.slice(0, 2 ** 20) };
    })
    .materialize();
  const { page, errors } = await open(s);
  await page.getByText("map(readings)").first().waitFor();
  await expect.poll(() => spilledWidths(page), { timeout: 60_000 }).toBeGreaterThan(0);
  await keepPicture(page, "status-spilling");
  await expect.poll(() => streamPixels(page, "orange-1"), { timeout: 60_000 }).toBeGreaterThan(10);
  expect(await violations(page)).toEqual([]);
  await kept;
  await page.getByText("finished after").waitFor();
  await go(page, "plan");
  await page
    .getByRole("link", { name: /readings/ })
    .first()
    .click();
  await page.getByText("What its tasks do").waitFor();
  await go(page, "memory");
  await page.getByText("Largest blocks").first().waitFor();
  await keepPicture(page, "memory-spilling");
  await s.close();
  await page.getByText("This session ended at").waitFor();
  expect(errors.filter((error) => !error.includes("net::ERR_"))).toEqual([]);
});

test("[W1] the bar of a sort, which is one task, grows while the sort works", async () => {
  const gate = join(gates, "watched");
  const s = sessions.open({ workers: 2, memoryLimit: "1 GiB" });
  const sorted = s
    .range(8_000_000, { overrideNumBlocks: 4 })
    .map(function spread(row) {
      if (row.id === 0) while (!existsSync(gate)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
      return { id: (row.id * 7_919) % 1_000_003, text: String(row.id).padStart(40) };
    })
    .sort("id")
    .map(function last(row) {
      return { id: row.id };
    })
    .count();
  const { page, errors } = await open(s);
  const bar = page.getByRole("progressbar", { name: /^sort/ });
  await bar.waitFor();
  // The page notes each share that the bar shows: a fast machine is done between two looks from here.
  await page.evaluate(() => {
    const shown: number[] = [];
    const look = () => {
      const value = document.querySelector('[role=progressbar][aria-label^="sort"]')?.getAttribute("aria-valuenow");
      if (value !== null && value !== undefined) shown.push(Number(value));
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
    Object.assign(window, { shown });
  });
  writeFileSync(gate, "");
  expect(await sorted).toBe(8_000_000);
  await page.getByText("finished after").waitFor();
  const shown = await page.evaluate(() => (window as unknown as { shown: number[] }).shown);
  expect(shown.filter((share) => share > 0 && share < 100)).not.toEqual([]);
  expect(shown.at(-1)).toBe(100);
  expect(errors).toEqual([]);
  await s.close();
});

/** Pixels of grey beyond the bars. */
function spilledWidths(page: Page): Promise<number> {
  return page
    .locator(".track .spilled")
    .evaluateAll((parts) => parts.reduce((sum, part) => sum + part.getBoundingClientRect().width, 0));
}

test("[K10] a worker that is paused turns red, and its row says so", async () => {
  const gate = join(gates, "seen");
  const memory = { target: false, spill: false, pause: 0.4, terminate: false } as const;
  const s = sessions.open({ workers: 1, memoryLimit: "512 MiB", worker: { memory } });
  const held = s
    .range(1)
    .map(async function hold(row) {
      const kept = Array.from({ length: 300 }, () => Buffer.alloc(2 ** 20, 1));
      while (!existsSync(gate)) await new Promise((resolve) => setTimeout(resolve, 20));
      return { id: row.id, kept: kept.length };
    })
    .takeAll();
  const { page, errors } = await open(s, "dark");
  await page.locator(".track.red").first().waitFor();
  await page
    .getByRole("row", { name: /worker \d+.*paused/ })
    .first()
    .waitFor();
  await keepPicture(page, "status-paused-dark");
  await go(page, "workers");
  await page.getByText("paused: no task starts in it").waitFor();
  const settings = page.getByRole("group", { name: "Settings of workers" });
  await settings.getByRole("row", { name: "worker.memory.pause 0.4 session" }).waitFor();
  await settings.getByRole("row", { name: 'allocator "system" default' }).waitFor();
  await page.getByText("target off; spill off; pause 40\u00a0%, 205 MiB").waitFor();
  writeFileSync(gate, "");
  expect(await held).toEqual([{ id: 0, kept: 300 }]);
  expect(errors).toEqual([]);
  await s.close();
});

test("[M12] a real want of memory is explained, and the log of the worker that was ended is downloaded", async () => {
  const file = join(sessions.directory, "orders.csv");
  writeFileSync(file, `n\n${Array.from({ length: 100 }, (_none, n) => n).join("\n")}\n`);
  const s = sessions.open({ workers: 2, memoryLimit: "256 MiB", maxOomRetries: 1 });
  const failed = s
    .readCsv<{ n: number }>(file)
    .map(async function embed(row) {
      if (row.n === 0) console.log("embed begins");
      const held: Buffer[] = [];
      for (;;) {
        held.push(Buffer.alloc(8 * 2 ** 20, 1));
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (held.length > 1_000) return row;
      }
    })
    .takeAll()
    .catch((error: unknown) => error);
  const { page, errors } = await open(s);
  await failed;
  await page.getByRole("link", { name: /Out of memory/ }).click();
  await page
    .getByText(/orders\.csv/)
    .first()
    .waitFor();
  await page.getByRole("heading", { name: "What to do" }).first().waitFor();
  await page
    .getByRole("img", { name: /Private memory of worker \d+: from / })
    .first()
    .waitFor();
  await page.getByText("Attempt 1:").first().waitFor();
  await page.getByText("(this one)").first().waitFor();
  expect(await violations(page)).toEqual([]);
  await keepPicture(page, "deaths-real");

  await go(page, "memory");
  const deaths = page.getByRole("figure", { name: "Ends of workers and retries so far" });
  await expect.poll(() => deaths.textContent()).toMatch(/ended by memory[1-9].*retries after running out1/);
  await go(page, "deaths");

  await page
    .getByRole("link", { name: /^its log/ })
    .first()
    .click();
  await page.getByText("embed begins").waitFor();
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download", exact: true }).first().click();
  expect(readFileSync(await (await download).path(), "utf8")).toContain("embed begins");
  expect(errors).toEqual([]);
  await s.close();
});

test("[M8] a profile of a real function with buffers outside the heap is taken in the page, and drawn", async () => {
  const gate = join(gates, "profiled");
  const s = sessions.open({ workers: 1, memoryLimit: "1 GiB" });
  const held = s
    .range(1)
    .map(async function grow(row) {
      const kept: Buffer[] = [];
      while (!existsSync(gate)) {
        kept.push(Buffer.alloc(2 ** 20, 1));
        if (kept.length > 60) kept.shift();
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return { id: row.id, kept: kept.length };
    })
    .takeAll();
  const { page, errors } = await open(s);
  await page.getByText("map(grow)").first().waitFor();
  await go(page, "workers");
  await page.getByRole("button", { name: /^Profile/ }).click();
  await page.getByRole("link", { name: "show" }).click();
  await page.getByRole("treeitem", { name: /grow/ }).first().waitFor();
  await page.getByRole("cell", { name: "buffer" }).first().waitFor();
  expect(await violations(page)).toEqual([]);
  await keepPicture(page, "profile-real");
  writeFileSync(gate, "");
  expect(await held).toHaveLength(1);
  expect(errors).toEqual([]);
  await s.close();
});

test("[W1] of several jobs, one is chosen by what it does and how long it took", async () => {
  const s = sessions.open({ workers: 1 });
  await s
    .range(10)
    .map(function fare(row) {
      return { fare: row.id * 2 };
    })
    .takeAll();
  await s
    .range(10)
    .filter(function isShort(row) {
      return row.id < 5;
    })
    .takeAll();
  const { page, errors } = await open(s);
  const chooser = page.getByRole("combobox", { name: "Job" });
  await expect
    .poll(() => chooser.getByRole("option").allTextContents())
    .toEqual([
      expect.stringMatching(/^\w+: range->filter\(isShort\), finished after \d/),
      expect.stringMatching(/^\w+: range->map\(fare\), finished after \d/),
    ]);
  await chooser.selectOption({ index: 1 });
  await page.locator(".progress").getByText("range->map(fare)").waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  expect(errors).toEqual([]);
  await s.close();
});

test("[W1] a session that was killed is shown from its file, started by the command line", async () => {
  const s = sessions.open({ workers: 1 });
  const before = new Set(sessionNames(sessions.stateDirectory));
  await s
    .range(1000)
    .map(function last(row) {
      return { id: row.id + 1 };
    })
    .takeAll();
  const [name = ""] = sessionNames(sessions.stateDirectory).filter((one) => !before.has(one));
  // A kill loses what was not yet written: up to a second.
  const events = join(sessions.stateDirectory, name, "events.jsonl");
  await expect.poll(() => readFileSync(events, "utf8")).toContain("map(last)");
  process.kill(supervisorPid(name), "SIGKILL");
  await expect.poll(() => processes([name])).toEqual([]);
  const serving = startSpillway(["dashboard", name, "--port", "0"]);
  await serving.said("?token=");
  const { page, errors } = await browser.open(/http:\S+/.exec(serving.out)?.[0] ?? "");
  await page.getByText("This session was killed").waitFor();
  await page.getByText("map(last)").first().waitFor();
  for (const [path, text] of [
    ["plan", "Rows out"],
    ["deaths", "Nothing ran out of memory"],
    ["logs", "supervisor"],
    ["settings", "objectStoreMemory"],
  ] as const) {
    await go(page, path);
    await page.getByText(text).first().waitFor();
  }
  expect(errors).toEqual([]);
  serving.child.kill("SIGTERM");
  await serving.ended;
});
