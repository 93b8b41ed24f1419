/** Every page in a real browser, over an invented session: it is shown, can be used, and nobody is left out. */
import { afterAll, expect } from "vitest";
import { violations } from "./support/axe.ts";
import { expectNoOverflow, go, keepPicture, testBrowser, threadShare, withChromium } from "./support/browser.ts";
import type { World } from "./support/invented.ts";
import { type Invented, serveInvented } from "./support/invented-server.ts";

const { test } = withChromium;
const browser = testBrowser("pages");
const servers: Invented[] = [];

async function serve(...options: Parameters<typeof serveInvented>): Promise<Invented> {
  const server = await serveInvented(...options);
  servers.push(server);
  return server;
}

afterAll(async () => {
  for (const server of servers) await server.close();
});

/** A page, and a text that is there when it is drawn. */
const PAGES = [
  ["status", "Running for"],
  ["plan", "Operators"],
  ["plan/1/2", "Findings"],
  ["memory", "Largest blocks"],
  ["deaths", "What to do"],
  ["workers", "Descriptors"],
  ["events", "worker 2 is paused"],
  ["logs/worker-0.log", "2026-11-18 line"],
  ["profiles/worker-1.heapprofile", "Lines with the most memory"],
  ["settings", "objectStoreMemory"],
] as const;

test("[W1] every page is accessible in light and dark, and fits a phone", async () => {
  const { address } = await serve();
  for (const [colours, width] of [
    ["light", 1440],
    ["dark", 390],
  ] as const) {
    const { page, errors } = await browser.open(address, { colours, width });
    for (const [path, text] of PAGES) {
      await go(page, path);
      await page.getByText(text).first().waitFor();
      expect(await violations(page), `${path} in ${colours}`).toEqual([]);
      await expectNoOverflow(page);
      await keepPicture(page, `${path.replaceAll("/", "-")}-${colours}`);
    }
    expect(errors).toEqual([]);
  }
});

test("[W1] a session without anything says on each page what would be there", async () => {
  const { address } = await serve({ isEmpty: true });
  const { page, errors } = await browser.open(address);
  const texts: readonly (readonly [string, string])[] = [
    ["status", "No job has started."],
    ["plan", "No job has started."],
    ["memory", "There is no block."],
    ["deaths", "Nothing ran out of memory"],
    ["workers", "No worker has started."],
    ["events", "Nothing of note has happened."],
    ["profiles", "No heap profile has been taken."],
    ["nowhere", "No such page"],
  ];
  for (const [path, text] of texts) {
    await go(page, path);
    await page.getByText(text).first().waitFor();
    expect(await violations(page), path).toEqual([]);
  }
  expect(errors).toEqual([]);
});

test("[W1] the keyboard alone reaches the pages, the bars, the task stream and the operators", async () => {
  const { address } = await serve();
  const { page } = await browser.open(address);
  await page.getByText("Running for").waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");
  const tabTo = async (wanted: string) => {
    for (let times = 0; times < 80; times++) {
      await page.keyboard.press("Tab");
      if ((await focused()).includes(wanted)) return;
    }
    throw new Error(`${wanted} is not reached with the Tab key`);
  };
  await page.keyboard.press("Tab");
  expect(await focused()).toBe("Skip to the page");
  await page.keyboard.press("Enter");

  await tabTo("session");
  await page.keyboard.press("ArrowDown");
  expect(await focused()).toBe("worker 0");
  const tip = page.locator(".tip");
  expect(await tip.textContent()).toMatch(/Managed\d.* MiB \([\d,]+ bytes\)/);

  const range = page.locator(".stream-range");
  await page.getByRole("img", { name: /^Task stream/ }).focus();
  const before = await range.textContent();
  await page.keyboard.press("-");
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => range.textContent()).not.toBe(before);
  await page.keyboard.press("ArrowDown");
  await page.getByText(/^worker 0: \d+ tasks/).waitFor({ state: "attached" });

  await tabTo("map(addTax)");
  await page.keyboard.press("Enter");
  await page.getByText("Figures").waitFor();
  expect(page.url()).toContain("#/plan/1/1");
});

test("[W1] light and dark are as chosen, and stay so", async () => {
  const { address } = await serve();
  const { page } = await browser.open(address, { colours: "dark" });
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const dark = await background();
  await page.getByText("Light", { exact: true }).click();
  const light = await background();
  expect(light).not.toBe(dark);
  await page.reload();
  expect(await background()).toBe(light);
});

test("[W1] a lost connection is said, and what has changed is there when it is back", async () => {
  const server = await serve();
  const { page } = await browser.open(server.address);
  await page.getByText("Running for").waitFor();
  server.cut(true);
  await page.getByText("The connection to the dashboard is lost").waitFor();
  server.cut(false);
  await page.getByText("The connection to the dashboard is lost").waitFor({ state: "detached" });
  server.tell(1);
  await page.locator(".pill.good").waitFor();
});

test("[W1] a session that was killed, or has ended, is said to be so", async () => {
  for (const [status, text] of [
    ["killed", "This session was killed"],
    ["ended", "This session ended at"],
  ] as const) {
    const { address } = await serve({ status });
    const { page, errors } = await browser.open(address);
    await page.getByText(text).waitFor();
    await page.getByText("finished after").waitFor();
    expect(errors).toEqual([]);
  }
});

test("[K10] bars are blue, orange and red by their worker, and grey where blocks are on disk", async () => {
  const { address } = await serve({ workers: 12 });
  const { page } = await browser.open(address);
  await page.locator(".track.red").first().waitFor();
  const colour = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => getComputedStyle(element).backgroundColor);
  const blue = await colour(".track.blue .managed");
  const red = await colour(".track.red .managed");
  const grey = await colour(".track.blue .spilled");
  expect(new Set([blue, red, grey]).size).toBe(3);
  expect(await page.getByRole("row", { name: /paused: no task starts in it/ }).count()).toBeGreaterThan(0);
});

test("[K10] marks stand where each step of a worker begins, and where the store is full", async () => {
  const { address } = await serve();
  const { page } = await browser.open(address);
  const marksOf = async (row: string) => {
    const track = page.getByRole("row", { name: row }).locator(".track");
    await track.waitFor();
    return track.evaluate((element) => {
      const { left, width } = element.getBoundingClientRect();
      const marks = [...element.querySelectorAll(".mark-at")];
      return marks.map((mark) => [
        mark.className.replace("mark-at ", ""),
        Math.round(((mark.getBoundingClientRect().left - left) / width) * 100),
      ]);
    });
  };
  // The scale of workers ends at their limit of 1 GiB; the session's at 4 GiB, and its store has 2 GiB.
  expect(await marksOf("worker 0")).toEqual([
    ["target", 60],
    ["spill", 70],
    ["pause", 80],
    ["terminate", 95],
  ]);
  expect(await marksOf("session")).toEqual([["capacity", 50]]);
  await page.getByRole("link", { name: "worker 0", exact: true }).first().focus();
  await expect.poll(() => page.locator(".tip").textContent()).toMatch(/pause at80 %, 819 MiB/);
  await page.getByRole("link", { name: "session", exact: true }).focus();
  await expect.poll(() => page.locator(".tip").textContent()).toMatch(/The store is full at2\.0 GiB/);
});

test("[M12] each death shows its curves, its users, why it was chosen, and what to do", async () => {
  const { address } = await serve();
  const { page } = await browser.open(`${address}#/deaths`);
  await page.getByText("ended at the terminate threshold of its limit").waitFor();
  await page.getByRole("img", { name: /Private memory of worker 1: from 240 MiB to 981 MiB/ }).waitFor();
  await page.getByText('memory: "1.3 GiB"').waitFor();
  expect(await page.getByRole("row", { name: /\(this one\)/ }).textContent()).toContain("981 MiB");
  await page.getByLabel("Show the others, too").click();
  await page.getByText("ended by a signal that the session did not send").waitFor();
});

const HOSTILE = `<img src=x onerror="window.hit=1">"'><script>window.hit=1</script>{{7*7}}\u202e${"long ".repeat(2000)}`;

test("[W1] names with HTML are text, and long ones do not break a page", async () => {
  const world: Partial<World> = { text: HOSTILE, operators: [HOSTILE, `map(${HOSTILE})`, "sort", HOSTILE] };
  const { address } = await serve(world);
  const { page, errors } = await browser.open(address, { width: 1200 });
  for (const path of [
    "status",
    "plan",
    "plan/1/1",
    "memory",
    "deaths",
    "workers",
    "events",
    "logs/worker-0.log",
    "settings",
  ]) {
    await go(page, path);
    await page.getByText("<img src=x").first().waitFor({ state: "attached" });
    await expectNoOverflow(page);
  }
  expect(await page.evaluate(() => "hit" in window)).toBe(false);
  expect(errors).toEqual([]);
});

test("[W1] 300 workers, 100,000 tasks, 5,000 columns and 400 lines a second stay usable", async () => {
  const columns = Array.from({ length: 5000 }, (_none, index) => `column_${index}`).join(", ");
  const { address } = await serve(
    { workers: 300, tasks: 100_000, operators: [`select(${columns})`, "map", "sort"], lines: 1950 },
    500,
    100,
  );
  const { page, errors } = await browser.open(address);
  await page.getByText("worker 299").waitFor({ state: "attached" });
  await page.getByText("worker 120", { exact: true }).first().waitFor();
  // Of the thread that draws and answers clicks: on a machine that has other things to do, clocks say little.
  expect(await threadShare(page, 3000)).toBeLessThan(0.8);
  await keepPicture(page, "status-300-workers");
  for (const [path, text] of [
    ["plan", "Operators"],
    ["workers", "worker 10"],
    ["events", "that this page does not keep"],
  ] as const) {
    await go(page, path);
    await page.getByText(text).first().waitFor();
  }
  expect(await page.locator(".happened li").count()).toBeLessThanOrEqual(500);
  expect(errors).toEqual([]);
});

test("[W1] a log line of 10 MiB is cut in the page, found, and whole in the download", async () => {
  const { address } = await serve();
  const { page, errors } = await browser.open(`${address}#/logs/worker-1.log`);
  await page.getByText("more characters: download").waitFor();
  await page.getByLabel("Find").fill("last");
  await page.getByRole("button", { name: "Find" }).click();
  await page.getByText("1 line with “last”").waitFor();
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download", exact: true }).first().click();
  const stream = await (await download).createReadStream();
  let size = 0;
  for await (const part of stream) size += part.length;
  expect(size).toBe(10 * 2 ** 20 + "first line\n\nlast line\n".length);
  expect(errors).toEqual([]);
});

test("[M8] a flame graph zooms, finds and is walked through with the keyboard", async () => {
  const { address } = await serve();
  const { page, errors } = await browser.open(`${address}#/profiles/worker-1.heapprofile`);
  const item = (name: string) => page.getByRole("treeitem", { name: new RegExp(`^${name}`) });
  await item("all").focus();
  for (const [key, name] of [
    ["ArrowDown", "runTask"],
    ["ArrowDown", "embed"],
    ["ArrowRight", "blocks"],
    ["ArrowLeft", "embed"],
    ["ArrowDown", "Buffer"],
  ] as const) {
    await page.keyboard.press(key);
    const label = await page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    expect(label).toMatch(new RegExp(`^${name}`));
  }
  await page.keyboard.press("Enter");
  await item("engine").waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await item("engine").waitFor();
  await page.getByRole("searchbox").fill("tokens");
  await page.getByText("3 found").waitFor();
  await page.getByRole("button", { name: /^end/ }).click();
  await item("embed").waitFor({ state: "detached" });
  expect(errors).toEqual([]);
});

test("[W1] the profile button asks for a profile of its worker", async () => {
  const server = await serve();
  const { page } = await browser.open(`${server.address}#/workers`);
  await page.getByRole("button", { name: "Profile worker 2" }).click();
  await page.getByRole("link", { name: "show" }).click();
  await page.getByRole("heading", { name: /^Lines with the most memory/ }).waitFor();
  expect(server.posts).toEqual(['{"worker":2,"seconds":10}']);
});
