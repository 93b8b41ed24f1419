/** What is shown of jobs, on terminals of any width and elsewhere, from invented figures. */
import { Writable } from "node:stream";
import type { WriteStream } from "node:tty";
import { afterEach, expect, test, vi } from "vitest";
import type { JobStats, OperatorStats } from "../../src/protocol/index.ts";
import { Display } from "../../src/session/progress/display.ts";
import { Screen } from "../../src/session/progress/screen.ts";
import { jobStats, statsOf } from "../dataset/in-process-stats.ts";
import { Terminal } from "../support/terminal.ts";

function operator(more: Partial<OperatorStats> = {}): OperatorStats {
  const slice = {
    id: 0,
    name: "readParquet->map",
    kind: "slice",
    input: { kind: "operators", operators: [] },
  } as const;
  return { ...statsOf({ ...slice, limit: null, offset: 0 }, 1_234), tasks: 4, tasksDone: 1, share: 0.25, ...more };
}

function stats(operators: readonly OperatorStats[], more: Partial<JobStats> = {}): JobStats {
  // Two workers with 1 GiB each; the wide kernel is lent 2 GiB of the store's 4.
  const memory = {
    workers: 2 ** 30,
    limit: 4 * 2 ** 30,
    workerLimit: 2 ** 30,
    store: 2 ** 30,
    capacity: 4 * 2 ** 30,
    onDisk: 0,
  };
  return { ...jobStats(operators), memory, ...more };
}

/** A stream that remembers what was written; with columns it is a terminal. */
function stream(columns?: number, more: object = {}): { readonly out: WriteStream; text(): string } {
  const written: string[] = [];
  const out = new Writable({
    decodeStrings: false,
    write: (chunk, _encoding, done) => {
      written.push(String(chunk));
      done();
    },
  });
  const isTTY = columns === undefined ? {} : { isTTY: true, rows: 24, ...(columns > 0 ? { columns } : {}) };
  return { out: Object.assign(out, isTTY, more) as unknown as WriteStream, text: () => written.join("") };
}

function shownOn(columns: number | undefined, shown: JobStats, more: object = {}, after = 700): string {
  const { out, text } = stream(columns, more);
  vi.useFakeTimers();
  const job = new Display(out, []).job();
  job.progress(shown);
  vi.advanceTimersByTime(after);
  const seen = text();
  job.ended(null);
  return seen;
}

function onTerminal(columns: number, text: string): readonly string[] {
  const terminal = new Terminal(columns, 24);
  // As the system does between a program and its terminal.
  terminal.take(text.replaceAll("\n", "\r\n"));
  return terminal.lines;
}

afterEach(() => {
  vi.useRealTimers();
});

test("[O11] a line for each operator and one for the job: rows, blocks, bytes a second, memory, what holds it back", () => {
  const held = operator({
    id: 1,
    name: "writeParquet",
    heldBy: "ResourceBudgetBackpressurePolicy",
    blocks: 3,
    share: null,
  });
  const text = shownOn(160, stats([operator({ seconds: 3 }), held], { spilledBytes: 5 * 2 ** 20 }));
  expect(onTerminal(160, text)).toEqual([
    "readParquet->map  [###       ]  25%  1/4 tasks  1,234 rows  1 block",
    "writeParquet      [          ]       1/4 tasks  1,234 rows  3 blocks  held back by its share of the store, cores and memory",
    "total             1s  1,234 rows  [###       ] memory 2.0 GiB of 6.0 GiB  spilled 5.0 MiB",
  ]);
});

test("[O11] the time left is told where the part that is done is known of every operator", () => {
  const known = shownOn(160, stats([operator({ seconds: 3 }), operator({ id: 1, share: 1 })]));
  expect(known).toContain("9s left");
  expect(shownOn(160, stats([operator({ seconds: 3 }), operator({ id: 1, share: null })]))).not.toContain("left");
});

test("[O11] a job that ends within half a second is not shown", () => {
  expect(shownOn(80, stats([operator()]), {}, 450)).toBe("");
});

test("[O11] a terminal that does not know its width shows progress all the same, in 79 columns", () => {
  for (const unknown of [0, -1]) {
    const lines = onTerminal(200, shownOn(unknown, stats([operator({ name: "m".repeat(300) })])));
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line.length).toBeLessThan(80);
  }
});

test("[O11] lines are narrower than the terminal, and long names are cut in the middle", () => {
  const name = `readParquet->${"x".repeat(80)}->mapBatches`;
  for (const columns of [8, 20, 30, 60, 100]) {
    const lines = onTerminal(columns, shownOn(columns, stats([operator({ name })])));
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line.length).toBeLessThan(columns);
  }
  const [first] = onTerminal(100, shownOn(100, stats([operator({ name })])));
  expect(first).toMatch(/^readParquet->x+…x+->mapBatches {2}\[###/);
});

test("[O11] a name moves no cursor", () => {
  const text = shownOn(100, stats([operator({ name: "map\x1b[2J\nevil\r" })]));
  expect(onTerminal(100, text)[0]).toMatch(/^map\?\[2J\?evil\?/);
});

test("[O11] of many operators those that run are shown, and how many are not", () => {
  const many = Array.from({ length: 40 }, (_, id) =>
    operator({ id, name: `op${id}`, share: id < 30 ? 1 : 0.5, tasksRunning: id === 35 ? 1 : 0 }),
  );
  const lines = onTerminal(100, shownOn(100, stats(many)));
  expect(lines).toHaveLength(16);
  expect(lines.some((line) => line.startsWith("op35 "))).toBe(true);
  expect(lines.at(-1)).toContain("total (25 more)");
});

test("[O11] colours where the terminal has them, and NO_COLOR is not set", () => {
  const colours = { getColorDepth: () => 8 };
  expect(shownOn(100, stats([operator()]), colours)).toContain("\x1b[32m");
  vi.stubEnv("NO_COLOR", "1");
  expect(shownOn(100, stats([operator()]), colours)).not.toContain("\x1b[32m");
  vi.unstubAllEnvs();
});

test("[O11] without a terminal a plain line every ten seconds, also where nothing is told meanwhile", () => {
  const told = stats([operator({ name: "map" })]);
  expect(shownOn(undefined, told, {}, 9_900)).toBe("");
  const text = shownOn(undefined, told, {}, 30_500);
  expect(text.split("\n")).toHaveLength(4);
  expect(text).toMatch(
    /^map: 25%, 1\/4 tasks, 1,234 rows, 1 block \| total: 10s, 1,234 rows, memory 2\.0 GiB of 6\.0 GiB/,
  );
  expect(text).not.toContain("\x1b");
});

test("[O11] several jobs share one display, which is gone with the last of them", () => {
  vi.useFakeTimers();
  const { out, text } = stream(100);
  const display = new Display(out, []);
  const [one, two] = [display.job(), display.job()];
  one.progress(stats([operator({ name: "first" })]));
  two.progress(stats([operator({ name: "second" })]));
  vi.advanceTimersByTime(700);
  expect(onTerminal(100, text()).map((line) => line.split(" ")[0])).toEqual(["first", "total", "second", "total"]);
  one.ended(null);
  vi.advanceTimersByTime(200);
  expect(onTerminal(100, text()).map((line) => line.split(" ")[0])).toEqual(["second", "total"]);
  two.ended(null);
  expect(onTerminal(100, text())).toEqual([]);
  expect(out.write).toBe(Writable.prototype.write);
});

test("[O11] a program that has replaced write keeps its own, before and after, and gets none of our lines", () => {
  const { out, text } = stream(100);
  const seen: unknown[] = [];
  const own = (chunk: unknown) => {
    seen.push(chunk);
    return Reflect.apply(Writable.prototype.write, out, [`own: ${String(chunk)}`]);
  };
  Reflect.set(out, "write", own);
  const screen = new Screen(out, [out], () => {});
  screen.draw(["progress"]);
  out.write("a\n");
  screen.draw(["progress"]);
  const later = out.write;
  const wraps: typeof later = (chunk: unknown) => Reflect.apply(later, out, [`later ${String(chunk)}`]);
  out.write = wraps;
  out.write("b\n");
  screen.draw(["progress"]);
  screen.end();
  expect(out.write).toBe(wraps);
  out.write("c\n");
  expect(seen).toEqual(["a\n", "later b\n", "later c\n"]);
  expect(onTerminal(100, text())).toEqual(["own: a", "own: later b", "own: later c"]);
});

test("[O11] a line that the program has not ended goes on where it stopped; one that moves the cursor has the screen", () => {
  const { out, text } = stream(100);
  out.write("before");
  const screen = new Screen(out, [out], () => {});
  screen.draw(["one", "two"]);
  expect(onTerminal(100, text())).toEqual(["before", "one", "two"]);
  out.write("half a ");
  screen.draw(["one", "two"]);
  expect(onTerminal(100, text())).toEqual(["before", "half a ".trim(), "one", "two"]);
  out.write("line\n\x1b[32mgreen\x1b[0m");
  screen.draw(["one", "two"]);
  expect(onTerminal(100, text())).toEqual(["before", "half a line", "green"]);
  out.write("\n");
  screen.draw(["one", "two"]);
  screen.end();
  expect(onTerminal(100, text())).toEqual(["before", "half a line", "green"]);
});
