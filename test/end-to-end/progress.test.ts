/** Progress in a real terminal (a pseudo-terminal of the system), and figures of jobs that run. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { count } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";
import { inTerminal, type TerminalRun } from "../support/terminal.ts";

const root = join(import.meta.dirname, "../..");
const sessions = testSessions("progress");

/** A job of 2.5 s or more on each of two workers. `beside` runs meanwhile; `body` is in place of the job. */
function program(beside: string, body = "await job();"): readonly string[] {
  const text = `
    import { session } from "spillway";
    import { Worker } from "node:worker_threads";
    const s = session({ workers: 2, dashboard: false, localDirectory: ${JSON.stringify(sessions.localDirectory)} });
    const job = (name = "slowly") => {
      const slowly = (row) => {
        const end = performance.now() + 0.25;
        while (performance.now() < end);
        return row;
      };
      return s.range(20_000, { overrideNumBlocks: 8 }).map(slowly).count();
    };
    ${beside}
    ${body}
    await s.close();
    console.log("the end");`;
  return [process.execPath, "--input-type=module", "-e", text];
}

function run(text: readonly string[], more: Partial<Parameters<typeof inTerminal>[1]> = {}): Promise<TerminalRun> {
  return inTerminal(text, { cwd: root, ...more });
}

/** How often the lines were drawn. */
const draws = ({ output }: TerminalRun) => output.split("total ").length - 1;

describe("[O11] on a terminal", () => {
  test("lines are shown while a job runs, ten times a second at most, and nothing of them is left", async () => {
    const shown = await run(
      program(
        "console.log('before'); const began = Date.now();",
        "await job(); console.log('took', Date.now() - began);",
      ),
    );
    const [before, took = "", end, ...rest] = shown.lines;
    expect([before, end, rest]).toEqual(["before", "the end", []]);
    expect(shown.output).toMatch(/range->map.* {2}\[#+ *\] +\d+%.* {2}\d\/8 tasks {2}[\d,]+ rows/);
    expect(shown.output).toMatch(/total .* rows.*\[#* *\] memory [\d.]+ MiB of/);
    expect(draws(shown)).toBeGreaterThan(5);
    expect(draws(shown)).toBeLessThanOrEqual(Number(took.split(" ")[1]) / 100 + 2);
    // Rows were told while tasks ran, and not only when one ended.
    const rows = [...shown.output.matchAll(/tasks {2}([\d,]+) rows/g)].map((found) =>
      Number(found[1]?.replaceAll(",", "")),
    );
    expect(new Set(rows).size).toBeGreaterThan(5);
    expect(rows.some((number) => number % 2_500 !== 0)).toBe(true);
  });

  test("10,000 lines that the program writes to stdout and stderr, in pieces and from a thread, are all there, in order", async () => {
    const beside = `
      const thread = new Worker("let i = 0; const t = setInterval(() => { for (let k = 0; k < 20; k++) console.log('thread', i++); if (i === 1000) clearInterval(t); }, 30)", { eval: true });
      let i = 0;
      const timer = setInterval(() => {
        for (let k = 0; k < 100 && i < 9_000; k++, i++) {
          const stream = i % 3 === 0 ? process.stderr : process.stdout;
          if (i % 7 === 0) {
            stream.write("main ");
            stream.write(Buffer.from(String(i)));
            stream.write("\\n");
          } else stream.write("main " + i + "\\n");
        }
        if (i < 9_000) process.stdout.write("half a line, ");
        if (i < 9_000) setTimeout(() => process.stdout.write("and its end\\n"), 10);
        else clearInterval(timer);
      }, 25);
      const ended = new Promise((resolve) => thread.on("exit", resolve));`;
    const shown = await run(program(beside, "await job(); await ended;"));
    // A thread may write between the halves of a line.
    const text = shown.lines.join("\n").replaceAll(/half a line, ?|and its end\n?/g, "");
    const of = (who: string) => [...text.matchAll(new RegExp(`${who} (\\d+)`, "g"))].map((found) => Number(found[1]));
    expect(of("main")).toEqual(Array.from({ length: 9_000 }, (_, i) => i));
    expect(of("thread")).toEqual(Array.from({ length: 1_000 }, (_, i) => i));
    expect(shown.lines.join("\n").match(/half a line, /g)?.length).toBeGreaterThan(50);
    expect(text.replaceAll(/(main|thread) \d+|the end|\n/g, "")).toBe("");
    expect(draws(shown)).toBeGreaterThan(5);
  });

  test("a terminal that becomes narrower and wider keeps what the program wrote, and at most one old drawing a time", async () => {
    const actions = [
      { after: "total", resize: 40 },
      { after: "line 3", resize: 25 },
      { after: "line 6", resize: 120 },
    ];
    const beside = "let i = 0; const timer = setInterval(() => console.log('line ' + i++), 150);";
    const shown = await run(program(beside, "await job(); clearInterval(timer);"), { columns: 100, actions });
    const lines = shown.lines.filter((line) => line !== "");
    // A drawing that is under way when the size changes may stay: the program hears of the change after it.
    const own = lines.filter((line) => /^(line \d+|the end)$/.test(line));
    expect(own.length).toBeGreaterThan(8);
    expect(own).toEqual([...own.slice(0, -1).map((_, i) => `line ${i}`), "the end"]);
    expect(lines.length - own.length).toBeLessThanOrEqual(2 * actions.length);
  });

  test("Ctrl-C leaves a clean screen, and ends the program as without us", async () => {
    const shown = await run(program("console.log('before');"), { actions: [{ after: "total", type: "\x03" }] });
    expect(shown).toMatchObject({ lines: ["before"], signal: 2 });
  });

  test("a program that hears the signal itself goes on, and so do the lines", async () => {
    const beside = "process.on('SIGINT', () => console.log('heard'));";
    const shown = await run(program(beside), { actions: [{ after: "total", type: "\x03" }] });
    expect(shown).toMatchObject({ code: 0, lines: ["heard", "the end"] });
    expect(shown.output.split("heard")[1]).toContain("total");
  });

  test("several jobs share one display; a program that ends in the middle leaves a clean screen", async () => {
    const two = await run(program("", "await Promise.all([job(), job()]);"));
    expect(two.lines).toEqual(["the end"]);
    expect(two.output).toMatch(/range->map[^\n]*\r\n[^\n]*total[^\n]*\r\n[^\n]*range->map[^\n]*\r\n[^\n]*total/);
    const left = await run(program("setTimeout(() => process.exit(3), 1_800);"));
    expect(left).toMatchObject({ code: 3, lines: [] });
  });

  test("nothing is shown of a job that ends within half a second, and nothing with progress: false", async () => {
    const short =
      "const ds = s.range(3).map((row) => row); await ds.count(); console.log('began'); const began = Date.now();";
    const quick = await run(program("", `${short} await ds.count(); console.log(Date.now() - began < 500);`));
    const [, after = ""] = quick.output.split("began");
    if (quick.lines.includes("true")) expect(after).not.toContain("range->map");
    const text = program("").map((part) => part.replace("workers: 2,", "workers: 2, progress: false,"));
    expect((await run(text)).output).toBe("the end\r\n");
  });
});

test("[O11] where nobody looks a plain line comes every ten seconds, without anything for a terminal", () => {
  const waits =
    "await s.range(2, { overrideNumBlocks: 2 }).map(async (row) => { await new Promise((go) => setTimeout(go, 11_000)); return row; }).count();";
  const [node = "", ...rest] = program("", waits);
  const { stderr, stdout } = spawnSync(node, rest, { cwd: root, encoding: "utf8", timeout: 50_000 });
  expect(stdout).toBe("the end\n");
  expect(stderr).toMatch(/^range->map: 0%, 0\/2 tasks, 0 rows \| total: 1\ds, 0 rows, memory [^\n]*\n$/);
});

test("[O10] stats() has the figures so far while a job runs: rows, bytes, what is read, and each operator's own clock", async () => {
  const s = sessions.open({});
  const slowly = (row: { id: number }) => {
    const end = performance.now() + 0.1;
    while (performance.now() < end);
    return { id: row.id, text: "x".repeat(50) };
  };
  const ds = s.range(20_000, { overrideNumBlocks: 2 }).map(slowly);
  const seen: { readonly rows: number; readonly bytes: number; readonly done: number }[] = [];
  const looks = setInterval(() => {
    const [first] = ds.stats().operators;
    if (first !== undefined)
      seen.push({ rows: first.rowsOut.total, bytes: first.bytesOut.total, done: first.tasksDone });
  }, 50);
  await ds.writeCsv(join(sessions.directory, "csv"));
  clearInterval(looks);
  const before = seen.filter(({ done }) => done === 0);
  expect(new Set(before.map(({ rows }) => rows)).size).toBeGreaterThan(2);
  expect(before.at(-1)?.bytes).toBeGreaterThan(0);
  expect(seen.every(({ rows }) => rows <= 20_000)).toBe(true);
  const { operators, seconds } = ds.stats();
  expect(operators[0]).toMatchObject({ rowsIn: 20_000, rowsOut: { total: 20_000 }, tasksRunning: 0, share: 1 });
  expect(operators[0]?.seconds).toBeLessThanOrEqual(seconds);
  await s.close();
});

test("[O11] wide work tells what it has read, how far its query is, and what it writes", async () => {
  const s = sessions.open({});
  // A sort of this many rows goes on for longer than a task waits before it reports, on a fast machine, too.
  const path = join(sessions.directory, "wide");
  await s
    .range(6_000_000)
    .map((row) => ({ id: row.id, text: `${(row.id * 7919) % 1_000_003}` }))
    .writeParquet(path);
  const sorted = s.readParquet(path).sort("text");
  const seen: { readonly share: number | null; readonly bytes: number }[] = [];
  const looks = setInterval(() => {
    const wide = sorted.stats().operators.at(-1);
    if (wide?.tasksDone === 0) seen.push({ share: wide.share, bytes: wide.bytesOut.total });
  }, 20);
  await sorted.writeParquet(join(path, "sorted"));
  clearInterval(looks);
  expect(seen.some(({ share }) => share !== null && share > 0 && share < 1)).toBe(true);
  expect(seen.some(({ bytes }) => bytes > 0)).toBe(true);
  const grouped = s
    .readParquet<{ id: number; text: string }>(path)
    .map((row) => ({ ...row, more: row.id }))
    .groupBy("text")
    .agg({ n: count() });
  const read = new Set<number>();
  const reads = setInterval(() => {
    const wide = grouped.stats().operators.at(-1);
    if (wide?.tasksDone === 0) read.add(wide.rowsIn);
  }, 20);
  await grouped.count();
  clearInterval(reads);
  expect([...read].some((rows) => rows > 0)).toBe(true);
  await s.close();
});
