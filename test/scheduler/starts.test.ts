/** When worker processes start, and what jobs are told when none is started any more. */
import { expect, test } from "vitest";
import type { JobId } from "../../src/protocol/index.ts";
import type { WorkerEnd } from "../../src/scheduler/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { MIB, ScriptedSession, splits } from "./scripted-session.ts";

const FOR_MEMORY: Partial<WorkerEnd> = {
  signal: "SIGKILL",
  cause: "monitor",
  curve: [300, 400, 700].map((mib, i) => ({ at: i * 2000, private: mib * MIB })),
};
const ASKED: Partial<WorkerEnd> = { exitCode: 0, cause: "asked" };

/** A session whose workers are up. */
function opened(workers: number): ScriptedSession {
  const session = new ScriptedSession(workers, 4);
  session.tell({ type: "open" });
  session.now = 500;
  session.tell({ type: "tick" });
  expect(session.ordered("spawn")).toBe(0);
  return session;
}

/** How long it is until something is due. */
function alarm({ scheduler, now }: ScriptedSession): number | null {
  return scheduler.alarmAt === null ? null : scheduler.alarmAt - now;
}

function passes(session: ScriptedSession, time: number): void {
  session.now += time;
  session.tell({ type: "tick" });
}

test("[A15] the first worker starts at once; the others when it has connected, or after half a second", () => {
  for (const isQuick of [true, false]) {
    const session = new ScriptedSession(0, 4, { workers: 3 });
    expect(session.ordered("spawn")).toBe(0);
    session.tell({ type: "open" });
    expect([session.ordered("spawn"), alarm(session)]).toEqual([1, 500]);
    if (isQuick) session.up(1);
    else passes(session, 500);
    expect([session.ordered("spawn"), alarm(session)]).toEqual([3, null]);
    expect(session.scheduler.isComplete).toBe(false);
    for (const worker of isQuick ? [2, 3] : [1, 2, 3]) session.up(worker);
    expect([session.ordered("spawn"), session.scheduler.isComplete]).toEqual([3, true]);
  }
});

test("[K7] a fresh worker starts after 1 to 16 s, five in a row at most; then jobs fail, and the next job starts one", () => {
  const session = opened(1);
  for (const [i, pause] of [1000, 2000, 4000, 8000, 16_000].entries()) {
    session.dies(i + 1, FOR_MEMORY);
    expect([session.ordered("spawn"), alarm(session)]).toEqual([i, pause]);
    passes(session, pause - 1);
    expect(session.ordered("spawn")).toBe(i);
    passes(session, 1);
    expect(session.ordered("spawn")).toBe(i + 1);
    session.up(i + 2);
  }
  session.start(job("a", [tasks(0, splits(1), { maxOomRetries: 9 })]), 1);
  session.dies(6, FOR_MEMORY);
  expect([session.ordered("spawn"), session.ordered("unavailable")]).toEqual([5, 1]);
  const [failed] = session.wasTold("failed");
  expect(failed).toMatchObject({
    job: "a",
    error: { name: "OutOfMemoryError", fields: { reason: "monitor", attempts: 6, memory: 700 * MIB } },
  });
  expect(failed?.error.message).toMatch(/^No worker is left: 6 in a row ran out of memory/);
  expect(failed?.error.message).toContain("300 MiB → 400 MiB → 700 MiB in the last 4.0 s");
  passes(session, 60_000);
  expect([session.ordered("spawn"), session.ordered("unavailable")]).toEqual([5, 1]);
  session.start(job("b", [tasks(0, splits(1))]), 1);
  expect(session.ordered("spawn")).toBe(6);
  session.up(7);
  session.done(7);
  expect(session.wasTold("finished").map(({ job }) => job)).toEqual(["b"]);
});

test.each(["inspect", "workersAsked"] as const)("[K7] where no worker is left, a question starts one: %s", (kind) => {
  const session = opened(1);
  for (let worker = 1; worker <= 6; worker++) {
    session.dies(worker, FOR_MEMORY);
    passes(session, 16_000);
    if (worker < 6) session.up(worker + 1);
  }
  expect(session.ordered("spawn")).toBe(5);
  if (kind === "inspect") session.program({ type: "inspect", request: 9, sql: "", maxRetries: 0 });
  else session.tell({ type: "workersAsked" });
  expect([session.ordered("spawn"), session.wasTold("refused").length]).toEqual([6, 0]);
});

test("[K7] a task that is done begins the row anew; a crash is replaced at once, and other workers go on meanwhile", () => {
  const session = opened(2);
  session.dies(1, FOR_MEMORY);
  expect([session.ordered("spawn"), alarm(session)]).toEqual([0, 1000]);
  session.dies(2, { signal: "SIGSEGV", cause: "native" });
  expect(session.ordered("spawn")).toBe(1);
  session.up(3);
  passes(session, 1000);
  expect(session.ordered("spawn")).toBe(2);
  session.up(4);
  session.start(job("j", [tasks(0, splits(1))]), 1);
  session.done(3);
  session.dies(4, FOR_MEMORY);
  expect(alarm(session)).toBe(1000);
});

test("[K7] workers that die together count once", () => {
  const session = opened(8);
  for (let worker = 1; worker <= 8; worker++) session.dies(worker, FOR_MEMORY);
  expect(alarm(session)).toBe(1000);
  passes(session, 1000);
  expect([session.ordered("spawn"), alarm(session)]).toEqual([8, null]);
  for (let worker = 9; worker <= 16; worker++) session.up(worker);
  session.dies(9, FOR_MEMORY);
  expect(alarm(session)).toBe(2000);
});

test("[K7] if one of two is given up, the other is still replaced, and no job fails", () => {
  const session = opened(2);
  for (const [i, worker] of [1, 3, 4, 5, 6, 7].entries()) {
    session.dies(worker, FOR_MEMORY);
    passes(session, 16_000);
    expect(session.ordered("spawn")).toBe(Math.min(5, i + 1));
    if (i < 5) session.up(i + 3);
  }
  session.dies(2, ASKED);
  expect([session.ordered("spawn"), session.ordered("unavailable")]).toEqual([6, 0]);
});

test("[K7] workers that end before they connect are tried after 100, 200, 400, … ms; after five jobs fail", () => {
  const session = new ScriptedSession(0, 4, { workers: 1 });
  session.start(job("a", [tasks(0, splits(1))]), 1);
  session.tell({ type: "open" });
  const pauses: (number | null)[] = [];
  for (let worker = 1; worker <= 8; worker++) {
    expect(session.ordered("spawn")).toBe(worker);
    session.tell({ type: "workerStarting", worker: worker as never });
    if (worker === 5) expect(session.wasTold("failed")).toEqual([]);
    session.now = 1_000 * worker ** 2;
    session.dies(worker, { exitCode: 3, tail: "no such module" });
    pauses.push(alarm(session));
    expect(session.scheduler.isComplete).toBe(true);
    passes(session, alarm(session) ?? 0);
  }
  expect(pauses).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
  const [failed] = session.wasTold("failed");
  expect(failed?.error.name).toBe("WorkerDiedError");
  expect(failed?.error.message).toMatch(/^Workers cannot be started: 5 in a row .* with code 3\. .*no such module$/s);
  // Later jobs fail at once, until a worker connects.
  session.start(job("b", [tasks(0, splits(1))]), 1);
  expect(session.wasTold("failed").map(({ job }) => job)).toEqual(["a", "b"]);
  session.up(9);
  session.start(job("c", [tasks(0, splits(1))]), 1);
  session.done(9);
  expect(session.wasTold("finished").map(({ job }) => job)).toEqual(["c" as JobId]);
});

test("[K7] a worker that has not connected after a minute is ended, and counts as one that ended at its start", () => {
  const session = new ScriptedSession(0, 4, { workers: 1 });
  session.tell({ type: "open" });
  for (let worker = 1; worker <= 5; worker++) {
    session.tell({ type: "workerStarting", worker: worker as never });
    if (worker === 5) session.start(job("a", [tasks(0, splits(1))]), 1);
    passes(session, 59_999);
    expect([session.ordered("kill"), session.wasTold("failed").length]).toEqual([worker - 1, 0]);
    passes(session, 1);
    expect(session.commands.findLast(({ type }) => type === "kill")).toMatchObject({
      worker,
      reason: "neverConnected",
    });
    // It connects while it is being killed.
    session.tell({ type: "workerReady", worker: worker as never, pid: 1 });
    passes(session, 60_000);
    expect(session.ordered("kill")).toBe(worker);
    session.dies(worker, { signal: "SIGKILL", connection: "never", tail: "waits for a lock" });
    passes(session, 10_000);
  }
  const [failed] = session.wasTold("failed");
  expect(failed?.error.message).toMatch(
    /^Workers cannot be started: 5 in a row .* with no sign of life\. .*waits for a lock$/s,
  );
  expect(session.ordered("spawn")).toBe(6);
});

test("[K7] the wide kernel, too, is ended if it has not connected after a minute", () => {
  const session = opened(1);
  session.start(job("j", [tasks(0, splits(1), { place: "wide" })]), 1);
  session.tell({ type: "workerStarting", worker: 50 as never, isWide: true });
  passes(session, 60_000);
  expect(session.commands.at(-1)).toEqual({ type: "kill", worker: 50, reason: "neverConnected" });
  session.dies(50, { signal: "SIGKILL", connection: "never" });
  passes(session, 100);
  expect(session.ordered("spawnWide")).toBe(2);
});

test("[K9] a question about memory waits for the first workers; later questions are answered at once", () => {
  const session = new ScriptedSession(0, 4, { workers: 2 });
  const ask = () => {
    session.program({ type: "memory", request: 7 });
    return session.wasTold("memory").length;
  };
  session.tell({ type: "open" });
  expect(ask()).toBe(0);
  session.up(1);
  expect(ask()).toBe(0);
  session.up(2);
  expect(session.wasTold("memory").map(({ memory }) => memory.workers.length)).toEqual([2, 2]);
  expect(alarm(session)).toBe(null);
  // A worker is being replaced.
  session.dies(1);
  expect(ask()).toBe(3);
});

test("[K9] a question about memory waits ten seconds at most for the first workers, and later ones do not wait", () => {
  const session = new ScriptedSession(0, 4, { workers: 1 });
  session.tell({ type: "open" });
  passes(session, 500);
  session.tell({ type: "workerStarting", worker: 1 as never });
  expect(alarm(session)).toBe(60_000);
  passes(session, 1_000);
  session.program({ type: "memory", request: 7 });
  expect(alarm(session)).toBe(10_000);
  passes(session, 9_999);
  expect(session.ordered("measure")).toBe(0);
  passes(session, 1);
  expect(session.wasTold("memory").length).toBe(1);
  session.program({ type: "memory", request: 8 });
  expect(session.wasTold("memory").length).toBe(2);
});

test("[K7] while workers end before they connect, no extra, larger or wide one is started either", () => {
  const session = opened(1);
  session.start(job("j", [tasks(0, splits(1), { place: "wide" })]), 1);
  expect(session.ordered("spawnWide")).toBe(1);
  session.tell({ type: "workerStarting", worker: 50 as never, isWide: true });
  session.dies(50);
  expect([session.ordered("spawnWide"), alarm(session)]).toEqual([1, 100]);
  passes(session, 100);
  expect(session.ordered("spawnWide")).toBe(2);
});
