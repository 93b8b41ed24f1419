/** What looking from time to time cannot catch, in real workers: much memory that is asked for at once. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Session } from "spillway";
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const MIB = 2 ** 20;
const sessions = testSessions("allowance");
/** So that only the allowance is in the way. */
const noLadder = { worker: { memory: { spill: false, pause: false, terminate: false } } } as const;

async function first<Row>(rows: Promise<readonly Row[]>): Promise<Row> {
  const [row] = await rows;
  if (row === undefined) throw new Error("no row came");
  return row;
}

const pidOf = (s: Session) =>
  first(
    s
      .range(1)
      .map(() => ({ pid: process.pid }))
      .takeAll(),
  );

/** How many buffers of 32 MiB can be held and filled; no more than 1.5 GiB. */
function fill() {
  const kept: Buffer[] = [];
  try {
    while (kept.length < 48) kept.push(Buffer.alloc(32 << 20, 1));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return { mebibytes: kept.length * 32 };
}

test("[M1] an allocation of four times a worker's limit is refused to the function, and its worker lives", async () => {
  const s = sessions.open({ workers: 1, memoryLimit: "512 MiB", maxRetries: 0, maxOomRetries: 0 });
  const before = await pidOf(s);
  const failed = s
    .range(1)
    .map(() => ({ bytes: Buffer.alloc(2e9).length }))
    .takeAll();
  await expect(failed).rejects.toThrow("RangeError: Array buffer allocation failed");
  await expect(failed).rejects.toMatchObject({ name: "OutOfMemoryError", reason: "allocation" });
  expect(await pidOf(s)).toEqual(before);
  await s.close();
});

test("[M1] what can be had at once ends a little above the worker's limit, a raised worker's above that", async () => {
  const s = sessions.open({ workers: 1, memoryLimit: "256 MiB", ...noLadder });
  const small = await first(s.range(1).map(fill).takeAll());
  expect(small.mebibytes).toBeGreaterThanOrEqual(256);
  expect(small.mebibytes).toBeLessThanOrEqual(448);
  const large = await first(s.range(1).map(fill, { memory: "768 MiB" }).takeAll());
  expect(large.mebibytes).toBeGreaterThanOrEqual(768);
  expect(large.mebibytes).toBeLessThanOrEqual(960);
  await s.close();
});

test("[M1] what a worker starts has the same limit, and whoever may can lift it", async () => {
  const s = sessions.open({ workers: 1, memoryLimit: "256 MiB" });
  const limits = await first(
    s
      .range(1)
      .map(() => {
        const [, soft = "", hard = ""] =
          /^Max data size\s+(\S+)\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
        return { soft, hard, child: execFileSync("/bin/sh", ["-c", "ulimit -S -d"], { encoding: "utf8" }) };
      })
      .takeAll(),
  );
  expect(Number(limits.soft)).toBeGreaterThan(448 * MIB);
  expect(Number(limits.child) * 1024).toBe(Math.floor(Number(limits.soft) / 1024) * 1024);
  expect(limits.hard).toBe(/^Max data size\s+\S+\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1]);
  await s.close();
});

test("[K1] a lowered limit leaves a running worker what it has and a little more: its next small request is granted", async () => {
  const s = sessions.open({ workers: 1, memoryLimit: "1 GiB", maxOomRetries: 0, maxRetries: 0, ...noLadder });
  await pidOf(s);
  const running = first(
    s
      .range(1)
      .map(async () => {
        const kept = Array.from({ length: 20 }, () => Buffer.alloc(32 << 20, 1));
        Reflect.set(globalThis, "begun", true);
        while (Reflect.get(globalThis, "goOn") !== true) await new Promise((resolve) => setImmediate(resolve));
        for (let i = 0; i < 16; i++) kept.push(Buffer.alloc(4 << 20, 1));
        return { buffers: kept.length };
      })
      .takeAll(),
  );
  const begun = () => s.run(() => Reflect.get(globalThis, "begun") === true);
  while ((await begun())[0]?.value !== true);
  await s.setMemoryLimit("256 MiB");
  await s.run(() => {
    Object.assign(globalThis, { goOn: true });
  });
  expect(await running).toEqual({ buffers: 36 });
  await s.close();
});
