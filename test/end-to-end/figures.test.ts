/**
 * The program's figures of a job are those that any reader of the session's events has, field by field: in the middle
 * of the job and at its end, from the file of a killed supervisor, and after old events were folded into totals.
 */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { count, type Dataset, type DatasetPipeline, type Session, type SessionOptions } from "spillway";
import { describe, expect, test } from "vitest";
import { summed } from "../../src/dataset/pipeline/stats.ts";
import { EventRecorder, jobStats, readRecords, readSession } from "../../src/events/index.ts";
import type { JobId, JobStats } from "../../src/protocol/index.ts";
import { expectInEvents, momentOf, toldDuring } from "../support/figures-of-events.ts";
import { lastSession, supervisorPid, testSessions } from "../support/sessions.ts";
import { SMALL } from "../support/spilling-sessions.ts";

const sessions = testSessions("figures");

/** Takes long enough that the program is told of it while it runs. */
function slowly<Row>(row: Row): Row {
  const end = performance.now() + 0.2;
  while (performance.now() < end);
  return row;
}

interface Run {
  readonly options?: SessionOptions;
  rows(s: Session): Dataset<{ id: number }>;
  consume?(ds: Dataset<{ id: number }>): Promise<unknown>;
  /** What must have happened: without it the run shows nothing. */
  check(stats: JobStats): void;
}

const total = (stats: JobStats, of: "retries" | "errored" | "tasksDone") =>
  stats.operators.reduce((sum, operator) => sum + operator[of], 0);

const RUNS: Readonly<Record<string, Run>> = {
  functions: {
    rows: (s) => s.range(4_000, { overrideNumBlocks: 8 }).map(slowly),
    check: (stats) =>
      expect(stats.operators.at(-1)).toMatchObject({ tasksDone: 8, rowsOut: { total: 4_000, min: 500 } }),
  },
  "a limit": {
    options: { targetMaxBlockSize: "64 KiB", objectStoreMemory: "8 MiB" },
    rows: (s) => s.range(40_000, { overrideNumBlocks: 2 }).map(slowly).limit(5_000),
    check: ({ operators }) => {
      expect(operators.at(-1)).toMatchObject({ rowsOut: { total: 5_000 } });
      expect(operators.at(-2)?.rowsOut.total).toBeGreaterThanOrEqual(5_000);
    },
  },
  "wide work": {
    rows: (s) => s.range(2_000, { overrideNumBlocks: 4 }).map(slowly).sort("id"),
    check: (stats) => expect(stats.operators.some(({ kind }) => kind.place === "wide")).toBe(true),
  },
  "an exchange": {
    options: { exchange: true },
    rows: (s) => {
      const slow = s.range(6_000, { overrideNumBlocks: 4 }).map((row) => slowly({ id: row.id % 7 }));
      return slow
        .groupBy("id")
        .agg({ rows: count() })
        .map(slowly)
        .map(({ id }) => ({ id }));
    },
    check: (stats) => expect(stats.operators.length).toBeGreaterThan(2),
  },
  spilling: {
    options: SMALL,
    rows: (s) => s.range(2_000, { overrideNumBlocks: 8 }).map((row) => slowly({ id: row.id, text: "x".repeat(1_000) })),
    consume: async (ds) => (await ds.materialize()).dispose(),
    check: (stats) => expect(stats.spilledBytes).toBeGreaterThan(0),
  },
  "rows dropped for errors": {
    rows: (s) =>
      s.range(2_000, { overrideNumBlocks: 4 }).map(
        (row) => {
          if (row.id % 100 === 0) throw new Error("a bad row");
          const end = performance.now() + 0.2;
          while (performance.now() < end);
          return row;
        },
        { onError: "skip" },
      ),
    check: (stats) => expect(total(stats, "errored")).toBe(20),
  },
  "a killed worker": {
    options: { targetMaxBlockSize: "64 KiB" },
    rows: (s) => {
      const marker = join(sessions.directory, "killed-once");
      return s.range(8_000, { overrideNumBlocks: 4 }).map((row) => {
        const fs = process.getBuiltinModule("node:fs");
        if (row.id === 1_900 && !fs.existsSync(marker)) {
          fs.writeFileSync(marker, "");
          process.kill(process.pid, "SIGKILL");
        }
        const end = performance.now() + 0.1;
        while (performance.now() < end);
        return row;
      });
    },
    check: (stats) => expect(total(stats, "retries")).toBe(1),
  },
};

/** The records of the session's event file, and its jobs in the order of their start. */
function eventsOf(name: string) {
  const directory = join(sessions.stateDirectory, name);
  const { state } = readSession(directory);
  return { records: [...readRecords(directory)], state, jobs: [...state.jobs.values()] };
}

describe("[O10] figures of a job are those of its events", () => {
  test.each(Object.entries(RUNS))("%s: while it runs, and at its end", async (_, run) => {
    const s = sessions.open({ workers: 2, ...run.options });
    const ds = run.rows(s);
    const told = await toldDuring(() => ds.stats().job, (run.consume ?? ((rows) => rows.takeAll()))(ds));
    const end = told.at(-1);
    if (end === undefined) throw new Error("no figures were told");
    run.check(end);
    expect(told.length).toBeGreaterThan(2);
    const name = lastSession(sessions);
    await s.close();
    const { records, jobs } = eventsOf(name);
    const job = jobs.at(-1);
    for (const stats of told) expectInEvents(records, job?.id ?? ("" as JobId), stats);
  });

  test("a pipeline: the sum of its windows", async () => {
    const s = sessions.open({ workers: 2 });
    const pipeline: DatasetPipeline<{ id: number }> = s
      .range(2_000, { overrideNumBlocks: 4 })
      .window({ blocks: 2 })
      .map(slowly);
    await pipeline.takeAll();
    const { job } = pipeline.stats();
    const name = lastSession(sessions);
    await s.close();
    const { state, jobs } = eventsOf(name);
    expect(jobs.length).toBe(2);
    const sum = jobs.reduce<JobStats | null>((before, next) => summed(before, jobStats(state, next)), null);
    expect(job?.operators).toEqual(sum?.operators);
    expect(job?.operators.at(-1)).toMatchObject({ rowsOut: { total: 2_000 } });
  });

  test("a supervisor that is killed in the middle of a job: its file has what the program was told", async () => {
    const s = sessions.open({ workers: 2 });
    const ds = s.range(200_000, { overrideNumBlocks: 40 }).map(slowly);
    const run = ds.takeAll().then(
      () => null,
      (error: unknown) => error,
    );
    await expect.poll(() => ds.stats().operators.at(-1)?.tasksDone ?? 0, { timeout: 30_000 }).toBeGreaterThan(1);
    const { job: stats } = ds.stats();
    if (stats === null) throw new Error("no figures were told");
    const name = lastSession(sessions);
    const directory = join(sessions.stateDirectory, name);
    const moment = () => {
      const [view] = [...readSession(directory).state.jobs.values()];
      return view === undefined ? Number.POSITIVE_INFINITY : momentOf(stats, view.startedAt);
    };
    // What happened in the last quarter of a second may be lost.
    await expect.poll(() => readSession(directory).state.at - moment(), { timeout: 30_000 }).toBeGreaterThan(0);
    process.kill(supervisorPid(name), "SIGKILL");
    expect(await run).toBeInstanceOf(Error);
    const { records, state, jobs } = eventsOf(name);
    expect(state.hasEnded).toBe(false);
    expectInEvents(records, jobs[0]?.id ?? ("" as JobId), stats);
    expect(jobs[0]).toMatchObject({ endedAt: null, outcome: null });
  });

  test("events that were folded into a snapshot count all the same", async () => {
    const s = sessions.open({ workers: 2 });
    const ds = s.range(2_000, { overrideNumBlocks: 200 }).map((row) => row);
    await ds.takeAll();
    const { job: stats } = ds.stats();
    const name = lastSession(sessions);
    await s.close();
    const folded = mkdtempSync(join(sessions.directory, "folded-"));
    // Segments older than a minute go: here every batch is one.
    let minutes = 0;
    const recorder = new EventRecorder(folded, 64 * 1024, () => 61_000 * minutes++);
    const { records } = eventsOf(name);
    const events = records.flatMap((record) => (record === null || record.type === "snapshot" ? [] : [record]));
    for (let at = 0; at < events.length; at += 100) {
      recorder.record(events.slice(at, at + 100));
      recorder.flush();
      await recorder.written();
    }
    await recorder.close();
    const read = readSession(folded);
    expect(read.events).toBeLessThan(events.length / 2);
    const [job] = [...read.state.jobs.values()];
    expect(job === undefined ? null : jobStats(read.state, job).operators).toEqual(stats?.operators);
    expect(stats?.operators.at(-1)).toMatchObject({ tasksDone: 200, rowsOut: { total: 2_000 } });
  });
});
