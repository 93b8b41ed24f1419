/// <reference lib="dom" />
/**
 * Debian's Chromium with a page whose errors are gathered: a script that fails, a refused resource, or a breach of the
 * content security policy fails the test.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { requires } from "../../support/requires.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const CHROMIUM = "/usr/bin/chromium";
const OUTPUT = fileURLToPath(new URL("../output", import.meta.url));
const ARGUMENTS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const withChromium = requires("Chromium", existsSync(CHROMIUM) ? null : `${CHROMIUM} is not there`);

export interface Looks {
  readonly colours?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
}

export interface OpenPage {
  readonly page: Page;
  /** Errors of the console and of scripts, so far. */
  readonly errors: string[];
}

export interface TestBrowser {
  open(address: string, looks?: Looks): Promise<OpenPage>;
}

/** Call once at the top of a test file: each test that opens a page has a browser of its own until it ends. */
export function testBrowser(name: string): TestBrowser {
  const directory = temporaryDirectory(`browser-${name}`);
  let opened = 0;
  return {
    async open(address, { colours = "light", width = 1440, height = 1000 } = {}) {
      const context = await chromium.launchPersistentContext(join(directory, String(opened++)), {
        executablePath: CHROMIUM,
        args: ARGUMENTS,
        colorScheme: colours,
        viewport: { width, height },
        acceptDownloads: true,
        timezoneId: "UTC",
      });
      onTestFinished(() => context.close());
      const [page = await context.newPage()] = context.pages();
      const errors: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning")
          errors.push(`${message.text()} ${message.location().url}`);
      });
      page.on("pageerror", (error) => errors.push(String(error)));
      await page.goto(address);
      return { page, errors };
    },
  };
}

/** Kept as test output, for people to look at. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  mkdirSync(OUTPUT, { recursive: true });
  const path = join(OUTPUT, `${name}.png`);
  rmSync(path, { force: true });
  await page.screenshot({ path, fullPage: true });
}

export async function go(page: Page, name: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#/${name}`);
}

/** Wider than the window: a phone's reader would have to move the page sideways. */
export async function expectNoOverflow(page: Page): Promise<void> {
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  expect(content).toBeLessThanOrEqual(window ?? 0);
}

/** How much of the time the page's main thread computes. */
export async function threadShare(page: Page, during: number): Promise<number> {
  const debuggerOf = await page.context().newCDPSession(page);
  await debuggerOf.send("Performance.enable", { timeDomain: "threadTicks" });
  const seconds = async () => {
    const { metrics } = await debuggerOf.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0;
  };
  const [before, started] = [await seconds(), performance.now()];
  await page.waitForTimeout(during);
  return ((await seconds()) - before) / ((performance.now() - started) / 1000);
}
