/** Traces by the rules of Chrome's trace event format, as Perfetto and speedscope read it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readRecords } from "../../src/events/index.ts";
import { traceOf } from "../../src/report/index.ts";
import { spillway } from "../support/command-line.ts";
import { sessionNames, testSessions } from "../support/sessions.ts";
import { writeInvented } from "./synthetic.ts";

const sessions = testSessions("trace");

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts?: number;
  readonly dur?: number;
  readonly s?: string;
  readonly cat?: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Each event has what its phase asks for; spans of a track lie one after another; all tracks have names. */
function checkFormat(events: readonly TraceEvent[]): void {
  const tracks = new Map<string, TraceEvent[]>();
  const named = new Set<string>();
  for (const event of events) {
    expect(event).toMatchObject({ name: expect.any(String), pid: expect.any(Number), tid: expect.any(Number) });
    if (event.ph === "M") {
      if (event.name === "thread_name") named.add(`${event.pid}/${event.tid}`);
      continue;
    }
    expect(["X", "C", "i"]).toContain(event.ph);
    expect(Number.isInteger(event.ts) && Number(event.ts) >= 0).toBe(true);
    if (event.ph === "C") expect(Object.values(event.args).every((value) => typeof value === "number")).toBe(true);
    if (event.ph === "i") expect(["g", "p", "t"]).toContain(event.s);
    if (event.ph !== "X") continue;
    expect(Number.isInteger(event.dur) && Number(event.dur) >= 0).toBe(true);
    const track = `${event.pid}/${event.tid}`;
    tracks.set(track, [...(tracks.get(track) ?? []), event]);
  }
  for (const [track, spans] of tracks) {
    expect(named).toContain(track);
    spans.sort((a, b) => (a.ts ?? 0) - (b.ts ?? 0));
    for (const [index, { ts = 0 }] of spans.entries()) {
      const before = spans[index - 1];
      if (before !== undefined) expect((before.ts ?? 0) + (before.dur ?? 0)).toBeLessThanOrEqual(ts);
    }
  }
}

test("[W6] a real session with spills, a crash and a retry", async () => {
  const s = sessions.open({ workers: 1, objectStoreMemory: "16 MiB" });
  const marker = join(sessions.directory, "crashed");
  const kept = await s
    .range(60_000)
    .map((row) => {
      if (row.id === 0 && !existsSync(marker)) {
        writeFileSync(marker, "");
        process.kill(process.pid, "SIGSEGV");
      }
      return { id: row.id, text: "x".repeat(500) };
    })
    .materialize();
  expect(await kept.count()).toBe(60_000);
  await s.close();
  const [name = ""] = sessionNames(sessions.stateDirectory);
  const { stdout, status } = spillway(["trace", name, "-o", "-"]);
  expect(status).toBe(0);
  const { traceEvents, displayTimeUnit }: { traceEvents: TraceEvent[]; displayTimeUnit: string } = JSON.parse(stdout);
  expect(displayTimeUnit).toBe("ms");
  checkFormat(traceEvents);
  const of = (cat: string) => traceEvents.filter((event) => event.cat === cat);
  expect(of("task").map(({ args }) => args.outcome)).toContain("killed");
  const done = of("task").filter(({ args }) => args.outcome === "done");
  expect(done.reduce((sum, { args }) => sum + Number(args.rowsOut), 0)).toBe(60_000);
  expect(of("disk").some((event) => event.name === "spill")).toBe(true);
  expect(of("death").map((event) => event.name)).toEqual([expect.stringMatching(/^worker 1 died: (native|signal)$/)]);
  expect(of("retry")).toHaveLength(1);
  expect(of("job")[0]?.args).toMatchObject({ outcome: "finished" });
  const counters = new Set(traceEvents.filter(({ ph }) => ph === "C").map((event) => event.name));
  expect([...counters].sort()).toEqual(["Node", "Other processes", "Store", "Workers by kind"]);
});

test("[W6] every task has its span in the row of its worker's slot, with its figures", () => {
  const directory = writeInvented(sessions.directory, "20260101T000000-1-tasks", {
    operators: ["a", "b"],
    workers: 3,
    tasks: 30,
  });
  const { traceEvents }: { traceEvents: TraceEvent[] } = JSON.parse([...traceOf(readRecords(directory))].join(""));
  checkFormat(traceEvents);
  const tasks = traceEvents.filter(({ cat }) => cat === "task");
  expect(tasks).toHaveLength(30);
  expect(tasks[4]).toMatchObject({ name: "a", ts: 20_000, dur: 9_000, tid: 1 });
  expect(tasks[4]?.args).toMatchObject({ task: "j0/0/4", worker: 2, attempt: 1, outcome: "done", rowsOut: 10, cpu: 8 });
  const disk = traceEvents.filter(({ cat }) => cat === "disk");
  expect(disk.map((event) => [event.name, event.dur])).toEqual(
    Array(3)
      .fill([
        ["spill", 1000],
        ["restore", 1000],
      ])
      .flat(),
  );
});

test("[W6] it is written as it is read: a piece is small, however long the session was", () => {
  const directory = writeInvented(sessions.directory, "20260101T000000-1-long", {
    operators: ["a"],
    workers: 2,
    tasks: 20_000,
  });
  let [longest, total] = [0, 0];
  for (const piece of traceOf(readRecords(directory))) {
    longest = Math.max(longest, piece.length);
    total += piece.length;
  }
  expect(total).toBeGreaterThan(4 << 20);
  expect(longest).toBeLessThan(2_000);
});

test("[W6] without -o the file is beside you, and the command says where to open it", () => {
  const directory = writeInvented(sessions.directory, "20260101T000000-1-here", {
    operators: ["a"],
    workers: 1,
    tasks: 1,
  });
  const { stdout } = spillway(["trace", directory], { cwd: sessions.directory });
  expect(stdout).toContain("spillway-20260101T000000-1-here.trace.json: open it at https://ui.perfetto.dev");
  const path = join(sessions.directory, "spillway-20260101T000000-1-here.trace.json");
  checkFormat(JSON.parse(readFileSync(path, "utf8")).traceEvents);
});
