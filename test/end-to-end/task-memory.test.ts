/** The memory of a task is its own: neither the peak of an earlier task, nor blocks, which all processes share. */
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const MIB = 2 ** 20;
const HELD = 200e6;
const sessions = testSessions("task-memory");

test("[O10] [M6] an operator that needs little has a small peak, also after a large one in the same worker", async () => {
  const s = sessions.open({ workers: 1 });
  const large = s.range(1).map(function holding(row) {
    const held = Buffer.alloc(200e6, 1);
    return { id: row.id, bytes: held.length };
  });
  const small = s.range(1).map(function tiny(row) {
    return { id: row.id };
  });
  await large.count();
  await s.trim();
  await small.count();
  const [before, after] = [large, small].map((ds) => ds.stats().operators[0]);
  expect(before?.peakMemory).toBeGreaterThanOrEqual(HELD);
  expect(before?.addedMemory).toBeGreaterThanOrEqual(HELD * 0.95);
  expect(String(large.stats())).toMatch(/Peak memory of a task: 2\d\d MiB; added by one: (19|2\d)\d MiB/);
  expect(after?.peakMemory).toBeGreaterThan(5 * MIB);
  expect(after?.peakMemory).toBeLessThan(150 * MIB);
  expect(small.stats().job?.peakWorkerMemory).toBeLessThan(150 * MIB);
  await s.close();
});

test("[O10] what earlier tasks have left in a worker is not added by its later tasks", async () => {
  const s = sessions.open({ workers: 1 });
  const keeping = s.range(1).map(function keeping(row) {
    Reflect.set(globalThis, "kept", Buffer.alloc(200e6, 1));
    return { id: row.id };
  });
  const small = s.range(1).map(function tiny(row) {
    return { id: row.id };
  });
  await keeping.count();
  await small.count();
  const after = small.stats().operators[0];
  expect(after?.peakMemory).toBeGreaterThanOrEqual(HELD);
  expect(after?.addedMemory).toBeLessThan(50 * MIB);
  await s.close();
});

test("[O10] memory that comes and goes between two readings is part of a task's peak", async () => {
  const s = sessions.open({ workers: 1, worker: { memory: { monitorInterval: "1h" } } });
  const ds = s.range(1).map(function burst(row) {
    const options = { maxByteLength: 200e6 };
    const held: ArrayBuffer = Reflect.construct(ArrayBuffer, [200e6, options]);
    new Uint8Array(held).fill(1);
    // The pages go back to the system at once.
    Reflect.apply(Reflect.get(held, "resize"), held, [0]);
    return { id: row.id };
  });
  await ds.count();
  expect(ds.stats().operators[0]?.peakMemory).toBeGreaterThanOrEqual(HELD);
  await s.close();
});

test("[O10] [M6] a task's memory includes its child processes, and is there while the task runs", async () => {
  const s = sessions.open({ workers: 1 });
  const path = `${sessions.directory}/seen`;
  const ds = s.range(1).map(async function withChild(row) {
    const program = "const held = Buffer.alloc(200e6, 1); process.stdin.on('end', () => held.length).resume()";
    const child = spawn(process.execPath, ["-e", program], { stdio: ["pipe", "ignore", "inherit"] });
    while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 20));
    child.stdin?.end();
    await new Promise((resolve) => child.on("close", resolve));
    return { id: row.id };
  });
  const counted = ds.count();
  await expect.poll(() => ds.stats().operators[0]?.peakMemory ?? 0, { timeout: 60_000 }).toBeGreaterThan(HELD);
  expect(ds.stats().operators[0]?.tasksDone).toBe(0);
  writeFileSync(path, "");
  await counted;
  expect(ds.stats().operators[0]?.peakMemory).toBeGreaterThan(HELD);
  expect(ds.stats().operators[0]?.addedMemory).toBeGreaterThan(HELD);
  await s.close();
}, 120_000);
