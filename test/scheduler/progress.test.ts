/** What running tasks have done so far: in the figures as long as they run, and replaced by what they report. */
import { expect, test } from "vitest";
import { type OperatorTotals, sharesOf } from "../../src/events/index.ts";
import type { JobId, OperatorStats, TaskProgress } from "../../src/protocol/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { taskReport } from "../support/figures.ts";
import { ScriptedSession, splits } from "./scripted-session.ts";
import { COUNT } from "./starved.ts";

const MIB = 2 ** 20;
const HALF: TaskProgress = { rowsIn: 60, rowsOut: 50, bytesOut: 4_000, share: 0.5, memory: 0, peakMemory: 0 };

function tell(session: ScriptedSession, worker: number, progress: TaskProgress): void {
  session.says(worker, { type: "progress", task: session.taskOf(worker).id, ...progress });
}

/** In MiB, as the worker itself saw it. */
function doneWith(session: ScriptedSession, worker: number, peak: number, added: number): void {
  const report = taskReport({ peakMemory: peak * MIB, addedMemory: added * MIB });
  session.says(worker, {
    type: "done",
    task: session.taskOf(worker).id,
    report,
    heap: { used: 0, limit: MIB },
    left: 0,
  });
}

/** The operator as the program is told of it next. */
function told(session: ScriptedSession): OperatorStats | undefined {
  session.now += 1_000;
  session.tell({ type: "tick" });
  return session.wasTold("progress").at(-1)?.stats.operators[0];
}

/** The operator as a reader of the events sees it. */
function seen(session: ScriptedSession): () => OperatorTotals | undefined {
  return () => session.state.jobs.get("j" as JobId)?.operators[0];
}

function begun(count: number, workers = count): ScriptedSession {
  const session = new ScriptedSession(workers, 8);
  session.tell({ type: "open" });
  session.start(job("j", [tasks(0, splits(count), { sink: COUNT })]), 1);
  return session;
}

test("[O11] rows of running tasks count while they run, and once when they are done", () => {
  const session = begun(2);
  const totals = seen(session);
  tell(session, 1, HALF);
  tell(session, 2, HALF);
  expect(told(session)).toMatchObject({ tasksRunning: 2, rowsIn: 120, rowsOut: { total: 100 }, share: 0.5 });
  expect(totals()).toMatchObject({ rowsOut: 0, soFar: { rowsIn: 120, rowsOut: 100, bytesOut: 8_000 } });
  tell(session, 1, { ...HALF, rowsOut: 80 });
  expect(told(session)?.rowsOut.total).toBe(130);
  expect(totals()).toMatchObject({ soFar: { rowsOut: 130 } });
  session.done(1, 90);
  expect(told(session)).toMatchObject({ tasksRunning: 1, rowsOut: { total: 140, max: 90 }, share: 0.75 });
  expect(totals()).toMatchObject({ rowsOut: 90, soFar: { rowsOut: 50 } });
  session.done(2, 70);
  expect(session.wasTold("finished")[0]?.stats.operators[0]).toMatchObject({ rowsOut: { total: 160 }, share: 1 });
  expect(totals()).toMatchObject({ rowsOut: 160, soFar: { rowsIn: 0, rowsOut: 0, bytesOut: 0 } });
});

/** A task that gets everything, in the wide kernel. */
const SORT = tasks(
  1,
  { kind: "fed", tables: [{ operators: [0], columns: [] }], gather: { kind: "all" } },
  { place: "wide" },
);
const WIDE = 9;

test("[W1] [O11] a wide task's share, and what follows from it, is the same on a terminal and for readers of events", () => {
  const session = new ScriptedSession(1, 100);
  session.tell({ type: "open" });
  const counts = tasks(2, { kind: "operators", operators: [1] }, { sink: COUNT });
  session.start(job("j", [tasks(0, splits(1)), SORT, counts]), 1);
  session.up(WIDE, { isWide: true });
  const shares = () => {
    session.now += 1_000;
    session.tell({ type: "tick" });
    const view = session.state.jobs.get("j" as JobId);
    const read = view === undefined ? [] : [...sharesOf(session.state, view).values()];
    const program = session
      .wasTold("progress")
      .at(-1)
      ?.stats.operators.map(({ share }) => share);
    expect(read).toEqual(program);
    return read;
  };
  session.asks(1);
  session.handsOver(1, 3);
  expect(shares()).toEqual([0, null, null]);
  tell(session, WIDE, { ...HALF, share: null });
  expect(shares()).toEqual([0, null, null]);
  session.done(1, 3);
  tell(session, WIDE, { ...HALF, share: 0.25 });
  expect(shares()).toEqual([1, 0.25, 0]);
  tell(session, WIDE, { ...HALF, share: 0.75 });
  expect(shares()).toEqual([1, 0.75, 0]);
});

test("[O11] what a killed task had done counts no longer: its replay counts from the beginning", () => {
  const session = begun(1, 2);
  const totals = seen(session);
  tell(session, 1, HALF);
  expect(told(session)?.rowsOut.total).toBe(50);
  session.dies(1, { signal: "SIGKILL", cause: "signal" });
  expect(told(session)).toMatchObject({ tasksRunning: 1, rowsOut: { total: 0 } });
  expect(totals()).toMatchObject({ retries: 1, running: 1, soFar: { rowsIn: 0, rowsOut: 0, bytesOut: 0 } });
  tell(session, 2, { ...HALF, rowsOut: 10 });
  expect(told(session)?.rowsOut.total).toBe(10);
  session.done(2, 70);
  expect(session.wasTold("finished")[0]?.stats.operators[0]?.rowsOut.total).toBe(70);
  expect(totals()).toMatchObject({ rowsOut: 70, soFar: { rowsOut: 0 } });
});

test("[O11] progress of all running tasks is one event, a few times a second at most", () => {
  const session = begun(3);
  const before = session.stream.length;
  for (let i = 1; i <= 30; i++) {
    session.now += 10;
    for (const worker of [1, 2, 3]) tell(session, worker, { ...HALF, rowsIn: i });
  }
  session.now += 200;
  session.tell({ type: "tick" });
  const events = session.stream.slice(before).filter(({ type }) => type === "taskProgress");
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({ job: "j", tasks: [{ rowsIn: 30 }, { rowsIn: 30 }, { rowsIn: 30 }] });
});

test("[O10] [M6] the memory of a running task is its worker's at the last reading, and the highest so far", () => {
  const session = begun(2, 2);
  const progress = () => {
    const { tasks } = session.stream.findLast((event) => event.type === "taskProgress") ?? { tasks: [] };
    return tasks.map(({ memory, peakMemory }) => [memory / MIB, peakMemory / MIB]);
  };
  session.seen(300, 20);
  session.seen(100, 30);
  expect(told(session)?.peakMemory).toBe(300 * MIB);
  expect(progress()).toEqual([
    [100, 300],
    [30, 30],
  ]);
  // What came and went between two readings, only the worker itself has seen.
  tell(session, 2, { ...HALF, peakMemory: 400 * MIB });
  expect(told(session)?.peakMemory).toBe(400 * MIB);
  expect(progress()).toEqual([[30, 400]]);
  doneWith(session, 2, 410, 390);
  // The worker did not see what the reading had: the memory of a child process.
  doneWith(session, 1, 90, 70);
  const end = session.wasTold("finished")[0]?.stats;
  expect(end?.operators[0]).toMatchObject({ peakMemory: 410 * MIB, addedMemory: 390 * MIB });
  expect(end?.peakWorkerMemory).toBe(410 * MIB);
  const totals = session.state.jobs.get("j" as JobId)?.operators[0];
  expect(totals).toMatchObject({ peakMemory: 410 * MIB, addedMemory: 390 * MIB });
});

test("[O10] an attempt that was killed counts in the peak of its operator, and the next task has its own", () => {
  const session = begun(1, 2);
  const totals = seen(session);
  session.seen(500, 20);
  session.dies(1, { signal: "SIGKILL", cause: "signal" });
  expect(told(session)).toMatchObject({ retries: 1, peakMemory: 500 * MIB });
  expect(totals()).toMatchObject({ retries: 1, peakMemory: 500 * MIB });
  doneWith(session, 2, 30, 10);
  expect(session.wasTold("finished")[0]?.stats.operators[0]).toMatchObject({
    peakMemory: 500 * MIB,
    addedMemory: 10 * MIB,
  });
});

test("[O11] the program hears of a job in which nothing happens once a second", () => {
  const session = begun(1);
  const before = session.wasTold("progress").length;
  for (let i = 0; i < 20; i++) {
    session.now += 200;
    session.seen(10);
  }
  expect(session.wasTold("progress").length - before).toBe(4);
  expect(session.wasTold("progress").at(-1)?.stats.memory.workers).toBe(10 * 2 ** 20);
});

test("[O10] an operator's clock runs from its first task to the end of its last one", () => {
  const session = begun(2, 1);
  session.now = 2_000;
  session.done(1);
  session.now = 3_500;
  session.done(1);
  session.now = 9_000;
  expect(session.wasTold("finished")[0]?.stats.operators[0]?.seconds).toBe(3.5);
});
