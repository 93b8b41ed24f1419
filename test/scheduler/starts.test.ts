/** When worker processes start, and what jobs are told when none is started any more. */
import { expect, test } from "vitest";
import type { JobId } from "../../src/protocol/index.ts";
import type { WorkerEnd } from "../../src/scheduler/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { MIB, splits, Table } from "./table.ts";

const FOR_MEMORY: Partial<WorkerEnd> = {
  signal: "SIGKILL",
  cause: "monitor",
  curve: [300, 400, 700].map((mib, i) => ({ at: i * 2000, private: mib * MIB })),
};
const ASKED: Partial<WorkerEnd> = { exitCode: 0, cause: "asked" };

/** A session whose workers are up. */
function opened(workers: number): Table {
  const table = new Table(workers, 4);
  table.tell({ type: "open" });
  table.now = 500;
  table.tell({ type: "tick" });
  expect(table.ordered("spawn")).toBe(0);
  return table;
}

/** How long it is until something is due. */
function alarm({ scheduler, now }: Table): number | null {
  return scheduler.alarmAt === null ? null : scheduler.alarmAt - now;
}

function passes(table: Table, time: number): void {
  table.now += time;
  table.tell({ type: "tick" });
}

test("[A15] the first worker starts at once; the others when it has connected, or after half a second", () => {
  for (const isQuick of [true, false]) {
    const table = new Table(0, 4, { workers: 3 });
    expect(table.ordered("spawn")).toBe(0);
    table.tell({ type: "open" });
    expect([table.ordered("spawn"), alarm(table)]).toEqual([1, 500]);
    if (isQuick) table.up(1);
    else passes(table, 500);
    expect([table.ordered("spawn"), alarm(table)]).toEqual([3, null]);
    expect(table.scheduler.isComplete).toBe(false);
    for (const worker of isQuick ? [2, 3] : [1, 2, 3]) table.up(worker);
    expect([table.ordered("spawn"), table.scheduler.isComplete]).toEqual([3, true]);
  }
});

test("[K7] a fresh worker starts after 1 to 16 s, five in a row at most; then jobs fail, and the next job starts one", () => {
  const table = opened(1);
  for (const [i, pause] of [1000, 2000, 4000, 8000, 16_000].entries()) {
    table.dies(i + 1, FOR_MEMORY);
    expect([table.ordered("spawn"), alarm(table)]).toEqual([i, pause]);
    passes(table, pause - 1);
    expect(table.ordered("spawn")).toBe(i);
    passes(table, 1);
    expect(table.ordered("spawn")).toBe(i + 1);
    table.up(i + 2);
  }
  table.start(job("a", [tasks(0, splits(1), { maxOomRetries: 9 })]), 1);
  table.dies(6, FOR_MEMORY);
  expect([table.ordered("spawn"), table.ordered("unavailable")]).toEqual([5, 1]);
  const [failed] = table.wasTold("failed");
  expect(failed).toMatchObject({
    job: "a",
    error: { name: "OutOfMemoryError", fields: { reason: "monitor", attempts: 6, memory: 700 * MIB } },
  });
  expect(failed?.error.message).toMatch(/^No worker is left: 6 in a row ran out of memory/);
  expect(failed?.error.message).toContain("300 MiB → 400 MiB → 700 MiB in the last 4.0 s");
  passes(table, 60_000);
  expect([table.ordered("spawn"), table.ordered("unavailable")]).toEqual([5, 1]);
  table.start(job("b", [tasks(0, splits(1))]), 1);
  expect(table.ordered("spawn")).toBe(6);
  table.up(7);
  table.done(7);
  expect(table.wasTold("finished").map(({ job }) => job)).toEqual(["b"]);
});

test.each(["inspect", "workersAsked"] as const)("[K7] where no worker is left, a question starts one: %s", (kind) => {
  const table = opened(1);
  for (let worker = 1; worker <= 6; worker++) {
    table.dies(worker, FOR_MEMORY);
    passes(table, 16_000);
    if (worker < 6) table.up(worker + 1);
  }
  expect(table.ordered("spawn")).toBe(5);
  if (kind === "inspect") table.program({ type: "inspect", request: 9, sql: "", maxRetries: 0 });
  else table.tell({ type: "workersAsked" });
  expect([table.ordered("spawn"), table.wasTold("refused").length]).toEqual([6, 0]);
});

test("[K7] a task that is done begins the row anew; a crash is replaced at once, and other workers go on meanwhile", () => {
  const table = opened(2);
  table.dies(1, FOR_MEMORY);
  expect([table.ordered("spawn"), alarm(table)]).toEqual([0, 1000]);
  table.dies(2, { signal: "SIGSEGV", cause: "native" });
  expect(table.ordered("spawn")).toBe(1);
  table.up(3);
  passes(table, 1000);
  expect(table.ordered("spawn")).toBe(2);
  table.up(4);
  table.start(job("j", [tasks(0, splits(1))]), 1);
  table.done(3);
  table.dies(4, FOR_MEMORY);
  expect(alarm(table)).toBe(1000);
});

test("[K7] workers that die together count once", () => {
  const table = opened(8);
  for (let worker = 1; worker <= 8; worker++) table.dies(worker, FOR_MEMORY);
  expect(alarm(table)).toBe(1000);
  passes(table, 1000);
  expect([table.ordered("spawn"), alarm(table)]).toEqual([8, null]);
  for (let worker = 9; worker <= 16; worker++) table.up(worker);
  table.dies(9, FOR_MEMORY);
  expect(alarm(table)).toBe(2000);
});

test("[K7] if one of two is given up, the other is still replaced, and no job fails", () => {
  const table = opened(2);
  for (const [i, worker] of [1, 3, 4, 5, 6, 7].entries()) {
    table.dies(worker, FOR_MEMORY);
    passes(table, 16_000);
    expect(table.ordered("spawn")).toBe(Math.min(5, i + 1));
    if (i < 5) table.up(i + 3);
  }
  table.dies(2, ASKED);
  expect([table.ordered("spawn"), table.ordered("unavailable")]).toEqual([6, 0]);
});

test("[K7] workers that end before they connect are tried after 100, 200, 400, … ms; after five jobs fail", () => {
  const table = new Table(0, 4, { workers: 1 });
  table.start(job("a", [tasks(0, splits(1))]), 1);
  table.tell({ type: "open" });
  const pauses: (number | null)[] = [];
  for (let worker = 1; worker <= 8; worker++) {
    expect(table.ordered("spawn")).toBe(worker);
    table.tell({ type: "workerStarting", worker: worker as never });
    if (worker === 5) expect(table.wasTold("failed")).toEqual([]);
    table.now = 1_000 * worker ** 2;
    table.dies(worker, { exitCode: 3, tail: "no such module" });
    pauses.push(alarm(table));
    expect(table.scheduler.isComplete).toBe(true);
    passes(table, alarm(table) ?? 0);
  }
  expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
  const [failed] = table.wasTold("failed");
  expect(failed?.error.name).toBe("WorkerDiedError");
  expect(failed?.error.message).toMatch(/^Workers cannot be started: 5 in a row .* with code 3\. .*no such module$/s);
  // Later jobs fail at once, until a worker connects.
  table.start(job("b", [tasks(0, splits(1))]), 1);
  expect(table.wasTold("failed").map(({ job }) => job)).toEqual(["a", "b"]);
  table.up(9);
  table.start(job("c", [tasks(0, splits(1))]), 1);
  table.done(9);
  expect(table.wasTold("finished").map(({ job }) => job)).toEqual(["c" as JobId]);
});

test("[K7] while workers end before they connect, no extra, larger or wide one is started either", () => {
  const table = opened(1);
  table.start(job("j", [tasks(0, splits(1), { place: "wide" })]), 1);
  expect(table.ordered("spawnWide")).toBe(1);
  table.tell({ type: "workerStarting", worker: 50 as never, isWide: true });
  table.dies(50);
  expect([table.ordered("spawnWide"), alarm(table)]).toEqual([1, 100]);
  passes(table, 100);
  expect(table.ordered("spawnWide")).toBe(2);
});
