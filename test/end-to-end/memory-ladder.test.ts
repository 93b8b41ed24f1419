/**
 * A worker that really grows through the thresholds of its limit, in a real session with the real gauge. Exact
 * thresholds are in test/scheduler; here the function waits on each step until the session has said that it saw it.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "spillway";
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const MIB = 2 ** 20;
const LIMIT = 512 * MIB;
const sessions = testSessions("memory-ladder");
const gates = sessions.directory;

type SessionEvent = Parameters<Parameters<Session["onEvent"]>[0]>[0];
type PressureEvent = Extract<SessionEvent, { type: "pressure" }>;

/** Opens a gate for each step of the ladder on which a worker comes to stand: `step-1`, `step-2`, … */
function watch(s: Session): PressureEvent[] {
  const seen: PressureEvent[] = [];
  s.onEvent((event) => {
    if (event.type !== "pressure") return;
    seen.push(event);
    writeFileSync(join(gates, `step-${seen.length}`), "");
  });
  return seen;
}

/** Blocks of 10 MiB. */
function blocksOf(s: Session, mebibytes: number) {
  const blocks = mebibytes / 10;
  return s.range(mebibytes, { overrideNumBlocks: blocks }).map((row) => ({ id: row.id, text: "x".repeat(2 ** 20) }));
}

test("[K3] blocks above 0.60 of a worker's limit go to disk", async () => {
  // Only the target: with these blocks and what it takes to make them, the worker comes near to being paused, and
  // replaced.
  const memory = { spill: false, pause: false, terminate: false } as const;
  const s = sessions.open({ workers: 1, memoryLimit: LIMIT, worker: { memory } });
  const blocks = blocksOf(s, 400);
  await blocks.materialize();
  expect(blocks.stats().spilledBytes).toBeGreaterThan(0);
  // The last one may still be on its way to disk.
  const managed = async () => (await s.resources()).workers[0]?.managed;
  await expect.poll(managed).toBeLessThanOrEqual(0.6 * LIMIT);
  expect(await managed()).toBeGreaterThan(0.5 * LIMIT);
  await s.close();
});

test("[K5] [K6] [K7] for a function that grows blocks are spilled; then it is paused and ended, and its task is run again", async () => {
  const s = sessions.open({ workers: 1, memoryLimit: LIMIT });
  const seen = watch(s);
  const kept = await blocksOf(s, 100).materialize();
  const growing = s.range(1).map((row) => {
    // The second time it needs nothing.
    if (existsSync(join(gates, "step-5"))) return { id: row.id, held: 0 };
    const held: Buffer[] = [];
    const own = () => {
      const [, resident = 0, shared = 0] = readFileSync("/proc/self/statm", "latin1").split(" ").map(Number);
      return (resident - shared) * 4096;
    };
    // With the blocks of 0.20 at first; without them below the target again; then by itself.
    for (const [share, step] of [
      [0.55, 2],
      [0.73, 3],
      [0.83, 4],
      [0.97, 6],
    ] as const) {
      while (own() < share * LIMIT) held.push(Buffer.alloc(2 ** 20, 1));
      while (!existsSync(join(gates, `step-${step}`))) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
    return { id: row.id, held: held.length };
  });
  expect(await growing.takeAll()).toEqual([{ id: 0, held: 0 }]);
  expect(seen.map(({ from, to }) => `${from} to ${to}`)).toEqual([
    "normal to spilling",
    "spilling to normal",
    "normal to spilling",
    "spilling to paused",
    "paused to terminating",
  ]);
  const bounds = [0.7, 0, 0.7, 0.8, 0.95].map((share) => share * LIMIT);
  for (const [i, bound] of bounds.entries()) expect(seen[i]?.process).toBeGreaterThan(bound);
  expect(seen[1]?.process).toBeLessThan(0.6 * LIMIT);
  expect(growing.stats().spilledBytes).toBeGreaterThan(50 * MIB);
  // What the worker that was ended had made is still there.
  expect(await kept.count()).toBe(100);
  expect((await kept.take(1))[0]?.text.length).toBe(MIB);
  await s.close();
});
