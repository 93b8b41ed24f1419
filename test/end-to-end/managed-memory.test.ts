/** What workers are answerable for, and that letting go of it frees it, in real sessions. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "spillway";
import { describe, expect, test } from "vitest";
import { workerPids } from "../support/sessions.ts";
import {
  checkRows,
  KIB,
  kilobyteRows,
  rowsOf,
  SMALL,
  spilledBytesIn,
  spillFilesIn,
  spillingSessions,
  until,
} from "../support/spilling-sessions.ts";

const sessions = spillingSessions("managed-memory");
const { open } = sessions;
const PAGE = 4 * KIB;
const STORE = 256 * KIB;
function pages(bytes: number): number {
  return Math.ceil(bytes / PAGE) * PAGE;
}

describe("what a worker answers for", () => {
  /** Each row is a block of its own, and says who made it. */
  const alone = (rows: number) => (s: Session) =>
    s.range(rows, { overrideNumBlocks: rows }).map((row) => ({ id: row.id, pid: process.pid, text: "x".repeat(6000) }));

  test("[K2] managed bytes are the resident blocks that each worker made, exactly", async () => {
    const s = open({ workers: 2, objectStoreMemory: "4 MiB" });
    const made = alone(40)(s);
    const kept = await made.materialize();
    const bytesOut = made.stats().operators.at(-1)?.bytesOut;
    expect(bytesOut?.min).toBe(bytesOut?.max);
    const block = pages(bytesOut?.max ?? 0);
    const rows = await kept.takeAll();
    const { workers } = await s.resources();
    for (const { pid, managed } of workers) {
      expect(managed).toBe(block * rows.filter((row) => row.pid === pid).length);
    }
    expect(workers.reduce((sum, { managed }) => sum + managed, 0)).toBe(40 * block);
    // A worker that is gone answers for nothing, its blocks are still there.
    const [first] = workers;
    process.kill(first?.pid ?? 0, "SIGKILL");
    await until(async () => (await s.resources()).workers.every(({ pid }) => pid !== first?.pid));
    const after = await s.resources();
    expect(after.workers.reduce((sum, { managed }) => sum + managed, 0)).toBe(40 * block - (first?.managed ?? 0));
    expect((await kept.takeAll()).length).toBe(40);
    kept.dispose();
    const { workers: free } = await s.resources();
    expect(free.every(({ managed }) => managed === 0)).toBe(true);
    await s.close();
  });

  test("[K2] what has left memory is not managed any more", async () => {
    const s = open(SMALL);
    const kept = await kilobyteRows(s, 1000).materialize();
    const { workers, used } = await s.resources();
    const managed = workers.reduce((sum, worker) => sum + worker.managed, 0);
    expect(managed).toBeGreaterThan(STORE / 2);
    expect(managed).toBeLessThanOrEqual(used.objectStoreMemory);
    expect(used.objectStoreMemory).toBeLessThanOrEqual(STORE);
    expect(kept.byteLength).toBeGreaterThan(3 * STORE);
    await s.close();
  });

  test("[K3] above target x memoryLimit the least recently used blocks leave, and not before; with false none does", async () => {
    // 64 MiB x target: nine blocks of two pages, and not ten.
    const memory = { memoryLimit: "64 MiB", workers: 1, objectStoreMemory: "4 MiB" } as const;
    // So small a limit is near to what a worker has before its first task.
    const off = { spill: false, pause: false, terminate: false } as const;
    const target = (9.5 * 2 * PAGE) / (64 * 2 ** 20);
    const s = open({ ...memory, worker: { memory: { ...off, target } } });
    const nine = alone(9)(s);
    const kept = await nine.materialize();
    expect(nine.stats().spilledBytes).toBe(0);
    const managed = async () => (await s.resources()).workers.reduce((sum, worker) => sum + worker.managed, 0);
    expect(await managed()).toBe(9 * 2 * PAGE);
    const one = alone(1)(s);
    const tenth = await one.materialize();
    await until(async () => (await managed()) === 9 * 2 * PAGE);
    expect(spillFilesIn(sessions.localDirectory).length).toBe(1);
    // It was the first that left: reading the tenth brings nothing back, reading the first does.
    await tenth.take(1);
    const head = kept.limit(1);
    await head.takeAll();
    expect(head.stats().restoredBytes).toBe(kept.byteLength / 9);
    await s.close();

    const without = open({ ...memory, worker: { memory: { ...off, target: false } } });
    const many = alone(100)(without);
    await many.materialize();
    expect(many.stats().spilledBytes).toBe(0);
    expect((await without.resources()).workers[0]?.managed).toBe(100 * 2 * PAGE);
    await without.close();
  });
});

describe("letting go", () => {
  test("[R6] dispose frees memory and files at once", async () => {
    const s = open(SMALL);
    const kept = await kilobyteRows(s, 800).materialize();
    const other = await kilobyteRows(s, 300).materialize();
    expect(spillFilesIn(sessions.localDirectory).length).toBeGreaterThan(0);
    kept.dispose();
    checkRows(await rowsOf(other), 300);
    const bytes = other.byteLength;
    await until(() => spilledBytesIn(sessions.localDirectory) <= bytes);
    other.dispose();
    await until(() => spillFilesIn(sessions.localDirectory).length === 0);
    // The session lives, and only what was disposed of is gone.
    expect(workerPids("").length).toBeGreaterThan(0);
    checkRows(await rowsOf(kilobyteRows(s, 100)), 100);
    await expect(kept.count().then(() => kept.takeAll())).rejects.toThrow(/disposed/);
    await s.close();
  });

  test("[R6] a collected dataset's files go", () => {
    const local = join(sessions.directory, "collected");
    const script = join(sessions.directory, "collected.mjs");
    writeFileSync(
      script,
      `import { readdirSync } from "node:fs";
       import { session } from ${JSON.stringify(import.meta.resolve("spillway"))};
       const local = ${JSON.stringify(local)};
       const files = () => readdirSync(local, { recursive: true }).filter((name) => name.endsWith(".arrows")).length;
       const s = session({ ...${JSON.stringify(SMALL)}, localDirectory: local, progress: false });
       async function make() {
         const kept = await s.range(800, { overrideNumBlocks: 8 }).map((row) => ({ id: row.id, text: "x".repeat(1000) })).materialize();
         return (await kept.takeAll()).length;
       }
       console.log("rows", await make(), "files", files() > 0);
       for (let i = 0; i < 1000 && files() > 0; i++) {
         global.gc();
         await s.resources();
         await new Promise((resolve) => setTimeout(resolve, 20));
       }
       console.log("files", files(), "bytes", (await s.resources()).used.objectStoreMemory);
       await s.close();`,
    );
    const { stdout } = spawnSync(process.execPath, ["--expose-gc", script], { encoding: "utf8", timeout: 50_000 });
    expect(stdout).toBe("rows 800 files true\nfiles 0 bytes 0\n");
  });
});
