/** The event file: written in segments, bounded, and read back to the state that the stream gave. */
import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { apply, EventRecorder, emptyState, readRecords, readSession, snapshotOf } from "../../src/events/index.ts";
import { Segments } from "../../src/events/segments.ts";
import {
  type BlockId,
  type JobId,
  NO_FIGURES,
  type RecordedEvent,
  type TaskId,
  type WorkerId,
} from "../../src/protocol/index.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const root = temporaryDirectory("events");

function directory(): string {
  return mkdtempSync(join(root, "d"));
}

const job = "j" as JobId;

function started(at: number): RecordedEvent {
  const operators = [
    {
      id: 0,
      name: "range->map",
      kind: "tasks",
      place: "worker",
      input: "splits",
      inputs: [],
      tasks: 9,
      recipe: null,
    } as const,
  ];
  return { at, type: "jobStarted", job, operators };
}

/** A task from its forming to its end, with a block that is made, spilled and freed. */
function task(at: number, index: number): RecordedEvent[] {
  const [id, block] = [`t${index}` as TaskId, index as BlockId];
  const worker = 1 as WorkerId;
  const figures = { ...NO_FIGURES, rowsIn: 5, rowsOut: 10, bytesOut: 800, wall: 3, cpu: 2, peakMemory: 100 + index };
  return [
    { at, type: "taskFormed", task: id, job, operator: 0, index, bytesIn: null },
    { at, type: "task", task: id, to: "waiting" },
    { at, type: "task", task: id, to: "running", worker },
    { at, type: "blockMade", block, bytes: 800, rows: 10, task: id, worker },
    { at, type: "block", block, to: "spilling" },
    { at, type: "block", block, to: "spilled" },
    { at, type: "taskDone", task: id, ...figures },
    { at, type: "task", task: id, to: "unplaced" },
    { at, type: "task", task: id, to: "over" },
    { at, type: "blockFreed", block },
  ];
}

function notice(at: number, operator: string): RecordedEvent {
  return { at, type: "notice", notice: { kind: "kernelSpilled", operator, bytes: at } };
}

function stateOf(events: readonly RecordedEvent[]) {
  const state = emptyState();
  for (const event of events) apply(state, event);
  return asJson(state);
}

function asJson(state: ReturnType<typeof emptyState>): unknown {
  return JSON.parse(JSON.stringify(snapshotOf(state)));
}

async function written(path: string, limit: number, events: readonly RecordedEvent[]): Promise<void> {
  const recorder = new EventRecorder(path, limit, () => events.at(-1)?.at ?? 0);
  for (let at = 0; at < events.length; at += 100) {
    recorder.record(events.slice(at, at + 100));
    recorder.flush();
  }
  await recorder.close();
}

describe("[W2] the event file", () => {
  test("gives the state that the events gave, with every event in it", async () => {
    const path = directory();
    const events = [started(0), ...Array.from({ length: 50 }, (_, i) => task(i, i)).flat(), notice(51, "map")];
    await written(path, 2 ** 20, events);
    expect([...readRecords(path)]).toEqual(events);
    const read = readSession(path);
    expect(asJson(read.state)).toEqual(stateOf(events));
    expect(read).toMatchObject({ torn: 0, events: events.length });
  });

  test("stays within its limit, and loses no total, no notice and no retry", async () => {
    const path = directory();
    const events: RecordedEvent[] = [started(0), notice(0, "the first")];
    for (let i = 1; i < 3000; i++)
      events.push(...task(i * 1000, i), ...(i % 500 === 0 ? [notice(i * 1000, "map")] : []));
    // Two segments must fit, each with a snapshot of 600 time buckets (66 KiB) and as much of events.
    const limit = 320 * 1024;
    // Each flush has the time of its last event, so that old segments are older than a minute.
    const clock = { now: 0 };
    const recorder = new EventRecorder(path, limit, () => clock.now);
    for (let at = 0; at < events.length; at += 100) {
      const batch = events.slice(at, at + 100);
      clock.now = batch.at(-1)?.at ?? 0;
      recorder.record(batch);
      recorder.flush();
      // Steps are carried out one after the other: those of the last flush are done before the time goes on.
      await recorder.written();
    }
    await recorder.close();
    const bytes = readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0);
    expect(bytes).toBeLessThanOrEqual(limit);
    const read = readSession(path);
    expect(read.events).toBeLessThan(events.length);
    expect(asJson(read.state)).toEqual(stateOf(events));
    expect(read.state.happened.length).toBe(6);
    expect(read.state.jobs.get(job)?.operators[0]).toMatchObject({
      tasksDone: 2999,
      rowsOut: 29_990,
      peakMemory: 3099,
    });
  });

  test("keeps each event of the last minute, even above its limit", async () => {
    const path = directory();
    const events = [started(0), ...Array.from({ length: 2000 }, (_, i) => task(i, i)).flat()];
    await written(path, 64 * 1024, events);
    expect([...readRecords(path)].filter((record) => record?.type !== "snapshot")).toEqual(events);
  });

  test("a line that was cut off by a kill is passed over", async () => {
    const path = directory();
    const events = [started(0), notice(1, "map")];
    await written(path, 2 ** 20, events);
    appendFileSync(join(path, "events.jsonl"), '{"at":3,"type":"noti');
    const read = readSession(path);
    expect(asJson(read.state)).toEqual(stateOf(events));
    expect(read.torn).toBe(1);
  });

  test("of an earlier version, which lacks a figure of tasks and of a snapshot's operators, counts 0 for it", async () => {
    const path = directory();
    const events = [started(0), ...task(1, 0), ...task(2, 1)];
    await written(path, 2 ** 20, events.slice(0, -10));
    const snapshot = { at: 1, type: "snapshot", state: stateOf(events.slice(0, -10)) };
    const records = [snapshot, ...events.slice(-10)].map((record) => `${JSON.stringify(record)}\n`);
    const earlier = records.join("").replaceAll(/,"(errored|addedMemory)":0/g, "");
    expect(earlier).not.toContain("errored");
    writeFileSync(join(path, "events.jsonl"), earlier);
    expect(asJson(readSession(path).state)).toEqual(stateOf(events));
  });

  test("goes on with a snapshot after the directory could not be written to", async () => {
    const path = join(directory(), "logs");
    writeFileSync(path, "no directory");
    const recorder = new EventRecorder(path, 2 ** 20);
    const events = [started(0), ...task(1, 1), notice(2, "map"), ...task(3, 3), notice(4, "filter")];
    recorder.record(events.slice(0, 12));
    recorder.flush();
    await recorder.written();
    rmSync(path);
    for (const event of events.slice(12)) {
      recorder.record([event]);
      recorder.flush();
      await recorder.written();
    }
    await recorder.close();
    expect(asJson(readSession(path).state)).toEqual(stateOf(events));
  });

  test("goes on with a snapshot after somebody removed the logs", async () => {
    const path = directory();
    const recorder = new EventRecorder(path, 2 ** 20);
    const events = [started(0), ...task(1, 1), notice(2, "map"), notice(3, "filter"), notice(4, "sort")];
    for (const [index, event] of events.entries()) {
      recorder.record([event]);
      recorder.flush();
      await recorder.written();
      if (index === 5) rmSync(path, { recursive: true });
    }
    await recorder.close();
    expect(asJson(readSession(path).state)).toEqual(stateOf(events));
  });

  test("what waits for a disk that does not answer is bounded", async () => {
    const path = directory();
    const segments = new Segments(path, 2 ** 30, () => 0);
    const line = `${"x".repeat(2 ** 20)}\n`;
    for (let i = 0; i < 100; i++) segments.append(line, () => "snapshot\n");
    await segments.written();
    segments.append(line, () => "snapshot\n");
    await segments.written();
    const names = readdirSync(path).sort();
    expect(names).toEqual(["events.1.jsonl", "events.jsonl"]);
    expect(statSync(join(path, "events.1.jsonl")).size).toBeLessThan(40 * 2 ** 20);
    expect(statSync(join(path, "events.jsonl")).size).toBe("snapshot\n".length);
  });
});
