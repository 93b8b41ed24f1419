/** Unmanaged memory that stays as it is, and unmanaged memory that grows, are told apart. */
import { expect, test } from "vitest";
import type { JobStats } from "../../src/protocol/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { MEMORY } from "../support/memory-settings.ts";
import { ScriptedSession, splits } from "./scripted-session.ts";
import { COUNT } from "./starved.ts";

const MIB = 2 ** 20;
const READING_MS = 10_000;

/** After so many readings of two workers, the second of which always has the same. */
function after(readings: number, ofFirst: (reading: number) => number): JobStats | undefined {
  const session = new ScriptedSession(2, 8, { memory: MEMORY });
  session.tell({ type: "open" });
  session.start(job("j", [tasks(0, splits(2), { sink: COUNT })]), 1);
  for (let reading = 0; reading < readings; reading++) {
    session.now += READING_MS;
    session.seen(ofFirst(reading), 30);
  }
  session.now += READING_MS;
  session.tell({ type: "tick" });
  return session.wasTold("progress").at(-1)?.stats;
}

test("[O10] a worker that loads something once has not grown, however much that is", () => {
  const stats = after(60, (reading) => (reading < 3 ? 10 : 60));
  expect(stats).toMatchObject({ peakUnmanaged: 60 * MIB, grownUnmanaged: 0 });
});

test("[O10] a worker that keeps more with each task has grown since the first half of the job", () => {
  const stats = after(60, (reading) => 10 + reading);
  expect(stats?.grownUnmanaged).toBeGreaterThanOrEqual(25 * MIB);
  expect(stats?.grownUnmanaged).toBeLessThanOrEqual(45 * MIB);
});

test("[O10] a job of a minute is too short to tell", () => {
  expect(after(6, (reading) => 10 + reading)?.grownUnmanaged).toBeNull();
});
