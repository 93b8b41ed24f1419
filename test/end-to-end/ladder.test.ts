/** The ladder with real workers: one that leaks is found out and replaced, and the limit changes while workers live. */
import type { TimedEvent } from "spillway";
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("ladder");

test("[K11] a function that keeps what it made is found out: its worker is replaced between tasks, and every row comes out", async () => {
  const s = sessions.open({ workers: 1, memoryLimit: "400 MiB" });
  const events: TimedEvent[] = [];
  s.onEvent((event) => events.push(event));
  const leak = (row: { id: number }) => {
    const all = globalThis as { kept?: Buffer[] };
    all.kept = [...(all.kept ?? []), Buffer.alloc(8 << 20, 1)];
    const until = Date.now() + 100;
    while (Date.now() < until);
    return { id: row.id, pid: process.pid };
  };
  const rows = await s.range(60, { overrideNumBlocks: 60 }).map(leak).takeAll();
  expect(rows.map(({ id }) => id).sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i));
  const recycled = new Set(events.flatMap((event) => (event.type === "recycled" ? [event.pid] : [])));
  const pids = [...new Set(rows.map(({ pid }) => pid))];
  expect(pids.length).toBeGreaterThan(1);
  // All but the one that had the last tasks, which may or may not be found out yet.
  expect(pids.filter((pid) => !recycled.has(pid)).length).toBeLessThanOrEqual(1);
  // Before it was in the way: nobody was ended with its task.
  expect(events.filter(({ type }) => type === "workerDied")).toEqual([]);
  await s.close();
});

test("[K1] [K9] setMemoryLimit: the limit holds at once, workers are replaced, and kinds add up", async () => {
  const s = sessions.open({ workers: 2, memoryLimit: "512 MiB" });
  await s.range(10).count();
  await expect.poll(async () => (await s.memory()).workers.filter(({ pid }) => pid !== null).length).toBe(2);
  const before = await s.memory();
  expect(before.workers.filter(({ kind }) => kind === "worker").map(({ limit }) => limit)).toEqual([2 ** 29, 2 ** 29]);
  for (const { managed, unmanaged, recent, process: all } of before.workers) {
    expect(managed + unmanaged + recent).toBe(all);
    expect(all).toBeGreaterThan(0);
  }
  await s.setMemoryLimit("1 GiB");
  const pids = new Set(before.workers.map(({ pid }) => pid));
  await expect
    .poll(async () => (await s.memory()).workers.map(({ pid, limit }) => [pids.has(pid), limit]))
    .toEqual([
      [false, 2 ** 30],
      [false, 2 ** 30],
    ]);
  expect(await s.range(10).count()).toBe(10);
  await expect(s.setMemoryLimit("10 MiB")).rejects.toThrow(/memoryLimit of 10.0 MiB is too small/);
  await s.close();
});
