/**
 * Whether an open dashboard keeps its memory: a page in a real browser watches tiny jobs, one after the other, for an
 * hour. Prints every minute what the page, the dashboard's process, the supervisor and the program have, and at the end
 * the last quarter as a ratio of the second one: the first is the warm-up. Linux, Debian's Chromium.
 * `npm run build && npx tsx bench/micro/dashboard-hour.ts [minutes] [tasks a job]`
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";
import { session } from "spillway";

const CHROMIUM = "/usr/bin/chromium";
const MIB = 2 ** 20;
/** Between two jobs, so that the machine can do other work. */
const PAUSE_MS = 2_000;
const WHO = ["page", "dashboard", "supervisor", "program"] as const;

type Sample = Readonly<Record<(typeof WHO)[number], number>>;

const minutes = Number(process.argv[2] ?? 60);
const tasks = Number(process.argv[3] ?? 1_000);
if (!(minutes >= 4) || !(tasks >= 1)) throw new Error("4 minutes or more, and 1 task or more, are needed.");

interface Seen {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

function processes(): readonly Seen[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const parent = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/status`, "utf8"));
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
      return [{ pid: Number(name), parent: Number(parent?.[1]), command }];
    } catch {
      // It ended meanwhile.
      return [];
    }
  });
}

/** The descendant of this program whose command line has this word. */
function find(word: RegExp): number {
  const all = processes();
  const isOwn = (one: Seen): boolean =>
    one.parent === process.pid || all.some((other) => other.pid === one.parent && isOwn(other));
  const found = all.filter((one) => word.test(one.command) && isOwn(one));
  const [first] = found;
  if (first === undefined) throw new Error(`No process of the session matches ${word}.`);
  return first.pid;
}

function privateOf(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const pages = [...rollup.matchAll(/^Private_\w+:\s+(\d+) kB/gm)];
  return pages.reduce((sum, [, kib]) => sum + Number(kib) * 1024, 0);
}

function medianOf(samples: readonly Sample[], who: (typeof WHO)[number]): number {
  const sorted = samples.map((sample) => sample[who]).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

const s = session({ workers: 2, progress: false });
const directory = mkdtempSync(join(tmpdir(), "dashboard-hour-"));
const browser = await chromium.launchPersistentContext(directory, {
  executablePath: CHROMIUM,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});
try {
  const job = () => s.range(tasks, { overrideNumBlocks: tasks }).map((row) => ({ id: -row.id }));
  await job().count();
  const page = browser.pages()[0] ?? (await browser.newPage());
  await page.goto(s.dashboardUrl ?? "");
  await page.getByText("Bytes stored").first().waitFor();
  const debuggerOf = await page.context().newCDPSession(page);
  const ids = { dashboard: find(/dashboard.*main|main.*dashboard/), supervisor: find(/supervisor/) };
  const samples: Sample[] = [];
  const begun = performance.now();
  let jobs = 0;
  while (samples.length < minutes) {
    await job().count();
    jobs += 1;
    await sleep(PAUSE_MS);
    if (performance.now() - begun < (samples.length + 1) * 60_000) continue;
    await debuggerOf.send("HeapProfiler.collectGarbage");
    const { usedSize } = await debuggerOf.send("Runtime.getHeapUsage");
    const sample = {
      page: usedSize,
      dashboard: privateOf(ids.dashboard),
      supervisor: privateOf(ids.supervisor),
      program: privateOf(process.pid),
    };
    samples.push(sample);
    const figures = WHO.map((who) => `${who} ${(sample[who] / MIB).toFixed(1)} MiB`).join(", ");
    console.log(`${samples.length} min, ${jobs} jobs: ${figures}`);
  }
  const quarter = Math.floor(samples.length / 4);
  const early = samples.slice(quarter, 2 * quarter);
  const late = samples.slice(-quarter);
  for (const who of WHO) {
    const [was, is] = [medianOf(early, who), medianOf(late, who)];
    console.log(
      `${who}: ${(was / MIB).toFixed(1)} MiB, then ${(is / MIB).toFixed(1)} MiB, ratio ${(is / was).toFixed(3)}`,
    );
  }
} finally {
  await browser.close();
  await s.close();
  rmSync(directory, { recursive: true });
}
