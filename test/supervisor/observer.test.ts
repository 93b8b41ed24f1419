/**
 * Observers of a real supervisor: a second client of its socket, live and slow; and the file of one that was killed.
 */
import { once } from "node:events";
import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { observe, readRecords, readSession, type SessionState, snapshotOf } from "../../src/events/index.ts";
import type { JobId, RecordedEvent } from "../../src/protocol/index.ts";
import { sessionDirectory } from "../../src/supervisor/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { split, TestSupervisor, testSupervisors } from "./harness.ts";

const start = testSupervisors();

function work(tasksOfIt: number) {
  return Array.from({ length: tasksOfIt }, () => split({ rows: 10, blocks: 2, bytes: 5000 }));
}

/** `done` is settled once `close` was called. */
function ending(): { readonly done: Promise<void>; readonly close: () => void } {
  let close = () => {};
  const done = new Promise<void>((resolve) => {
    close = resolve;
  });
  return { done, close };
}

function asJson(state: SessionState): unknown {
  return JSON.parse(JSON.stringify(snapshotOf(state)));
}

function idOf(name: string): JobId {
  return name as JobId;
}

function jobOf(id: string, count: number) {
  return job(id, [tasks(0, { kind: "splits", splits: work(count) })]);
}

describe("[W2] an observer", () => {
  test("gets a snapshot, then the events; the session's file comes to the same state", async () => {
    const supervisor = await start();
    await supervisor.run(jobOf("before", 3));
    const events: RecordedEvent[] = [];
    const closed = ending();
    const watching = observe(sessionDirectory(supervisor.options), supervisor.options.token, {
      changed: (more) => events.push(...more),
      closed: closed.close,
    });
    await expect.poll(() => watching.state.jobs.get(idOf("before"))?.outcome).toBe("finished");
    expect(watching.state.session).toMatchObject({ session: supervisor.options.session, workers: 2 });
    await supervisor.run(jobOf("after", 4));
    await supervisor.close();
    await closed.done;
    const after = watching.state.jobs.get(idOf("after"));
    expect(after).toMatchObject({ outcome: "finished", rows: 80, rowsDelivered: 80 });
    expect(after?.operators[0]).toMatchObject({
      formed: 4,
      tasksDone: 4,
      running: 0,
      blocks: 8,
      rowsOut: 80,
      ended: true,
    });
    expect(watching.state.hasEnded).toBe(true);
    expect(watching.dropped).toBe(0);
    expect(events.filter(({ type }) => type === "taskDone").length).toBe(4);
    expect(asJson(readSession(supervisor.options.stateDirectory).state)).toEqual(asJson(watching.state));
  });

  test("without the token is refused, and learns nothing", async () => {
    const supervisor = await start();
    let changes = 0;
    const closed = ending();
    const changed = () => {
      changes += 1;
    };
    observe(sessionDirectory(supervisor.options), "guessed", { changed, closed: closed.close });
    await closed.done;
    expect(changes).toBe(0);
  });
});

test("[W2] the file of a supervisor that was killed has what was written a moment before", async () => {
  const supervisor = await TestSupervisor.start();
  await supervisor.run(jobOf("done", 5));
  const { stateDirectory } = supervisor.options;
  const has = () => [...readRecords(stateDirectory)].some((record) => record?.type === "jobFinished");
  await expect.poll(has).toBe(true);
  const exited = once(supervisor.process, "exit");
  supervisor.process.kill("SIGKILL");
  await exited;
  const { state } = readSession(stateDirectory);
  expect(state.hasEnded).toBe(false);
  expect(state.jobs.get(idOf("done"))).toMatchObject({ outcome: "finished", rows: 100 });
  expect(statSync(join(stateDirectory, "events.jsonl")).mode & 0o777).toBe(0o600);
  // The next session removes what the killed one left.
  await start({ localDirectory: supervisor.options.localDirectory });
});

test("[W2] no token and no environment variable is in the file", async () => {
  const supervisor = await start({ token: "a-token-of-this-test", workerEnv: { PASSWORD: "hunter2" } });
  await supervisor.run(jobOf("j", 2));
  await supervisor.close();
  const text = JSON.stringify([...readRecords(supervisor.options.stateDirectory)]);
  expect(text).toContain('"jobFinished"');
  expect(text).not.toContain("a-token-of-this-test");
  expect(text).not.toContain("hunter2");
});
