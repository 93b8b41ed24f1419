/**
 * The cost of the dashboard for 10,000 tiny tasks: without a dashboard, with one that nobody opens, and with three open
 * status pages. This process asks for what the pages ask for and is not counted, as a browser would not be. It compares
 * the CPU time of all of the session's processes in pairs of runs in alternating order, and prints the median ratio
 * with its 95 % interval.
 * Linux, root. `npm run build && npx tsx bench/micro/dashboard-cost.ts [pairs] [tasks]`
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { comparisonOf, FEWEST_PAIRS, type Pair } from "../compare/statistics.ts";
import { makeCpuGroup, whyNoCpuGroup } from "../harness/cpu-group.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pairs = Number(process.argv[2] ?? 15);
const tasks = Number(process.argv[3] ?? 10_000);
const PAGES = 3;
/** Of the task stream in a page: pixels, the time that it shows, and the pause between two drawings. */
const WIDTH = 1_300;
const SHOWN_MS = 60_000;
const BETWEEN_QUESTIONS_MS = 700;

type Variant = "none" | "never opened" | "three pages";

/** Prints its dashboard's address, and begins when it is told to. */
const PROGRAM = `
import { once } from "node:events";
import { session } from "spillway";
const [dashboard, tasks] = process.argv.slice(1);
const s = session({ workers: 2, progress: false, dashboard: dashboard === "true" });
await s.range(1).map((row) => ({ id: row.id })).takeAll();
console.log(s.dashboardUrl);
await once(process.stdin, "data");
const made = s.range(Number(tasks), { overrideNumBlocks: Number(tasks) }).map((row) => ({ id: -row.id }));
if ((await made.count()) !== Number(tasks)) throw new Error("rows are missing");
await s.close();
process.exit();
`;

async function measured(variant: Variant): Promise<number> {
  const group = await makeCpuGroup();
  try {
    const command = [process.execPath, "--input-type=module", "-e", PROGRAM];
    const [shell = "", ...rest] = group.enter([...command, String(variant !== "none"), String(tasks)]);
    const started = performance.now();
    const child = spawn(shell, rest, { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
    const ended = once(child, "exit");
    const url = await firstLine(child);
    if (variant === "three pages") await Promise.all(Array.from({ length: PAGES }, () => openPage(url, started)));
    child.stdin?.write("go\n");
    const [code] = await ended;
    if (code !== 0) throw new Error(`The program ended with code ${code}.`);
    return await group.used();
  } finally {
    await group.remove();
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("The program has no output.");
  const [line] = await once(createInterface(child.stdout), "line");
  return String(line);
}

/** Asks for all that the status page of a browser asks for. Resolves with the page's first bytes. */
async function openPage(link: string, started: number): Promise<void> {
  const stream = await answerOf(link, "/api/stream");
  const page = { isOpen: true };
  stream.on("close", () => {
    page.isOpen = false;
  });
  // The session's end may come as an error, too.
  stream.on("error", () => {});
  const first = once(stream, "data");
  stream.resume();
  await first;
  void drawTasks(link, started, page);
}

/** The task stream of the last minute, as a browser follows it (src/dashboard/web/stream), until the session ends. */
async function drawTasks(link: string, started: number, page: { readonly isOpen: boolean }): Promise<void> {
  while (page.isOpen) {
    const asked = performance.now();
    const to = Math.ceil(asked - started);
    try {
      const range = `from=${Math.max(0, to - SHOWN_MS)}&to=${to}&width=${WIDTH}`;
      await text(await answerOf(link, `/api/tasks?${range}&follows`));
    } catch (error) {
      if (/^(ECONNREFUSED|ECONNRESET)$/.test(String((error as NodeJS.ErrnoException).code))) return;
      throw error;
    }
    await sleep(Math.max(BETWEEN_QUESTIONS_MS, (performance.now() - asked) * 5));
  }
}

async function answerOf(link: string, path: string): Promise<IncomingMessage> {
  const url = new URL(link);
  const token = url.searchParams.get("token");
  const asking = request(new URL(path, url), { headers: { authorization: `Bearer ${token}` } });
  asking.end();
  const [response] = await once(asking, "response");
  // From here on, the response tells of errors.
  asking.on("error", () => {});
  if (response.statusCode !== 200) throw new Error(`The dashboard answered ${path} with ${response.statusCode}.`);
  return response;
}

async function compare(base: Variant, current: Variant): Promise<void> {
  const all: Pair[] = [];
  // The first pair is the warm-up.
  for (let number = 0; number <= pairs; number++) {
    const isTurned = number % 2 === 1;
    const first = await measured(isTurned ? current : base);
    const second = await measured(isTurned ? base : current);
    if (number > 0) all.push(isTurned ? { base: second, current: first } : { base: first, current: second });
  }
  const { base: was, current: is, median, interval } = comparisonOf(all);
  const range = `${interval.low.toFixed(3)} … ${interval.high.toFixed(3)}, ${(interval.coverage * 100).toFixed(1)} %`;
  console.log(`${current}: ${is.toFixed(2)} s, ${base}: ${was.toFixed(2)} s, ratio ${median.toFixed(3)} (${range})`);
}

const why = await whyNoCpuGroup();
if (why !== null || !(pairs >= FEWEST_PAIRS)) {
  console.error(why ?? `${FEWEST_PAIRS} pairs or more are needed.`);
  process.exit(1);
}
await compare("none", "never opened");
await compare("none", "three pages");
