/** Workers that die while the session goes on: their tasks run again, and others take their place. */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { NondeterministicFunctionError, type Session, StoreError } from "spillway";
import { describe, expect, test } from "vitest";
import { lastSession, testSessions, workerPids } from "../support/sessions.ts";

const sessions = testSessions("replaced-workers");

describe("a worker that dies", () => {
  test("[R1] its task is replayed exactly: the result is the same, nothing twice", async () => {
    const s = sessions.open({ workers: 2, targetMaxBlockSize: "64 KiB", objectStoreMemory: "8 MiB" });
    const marker = join(sessions.directory, "killed-once");
    const seen: number[] = [];
    const ds = s.range(200_000, { overrideNumBlocks: 4 }).map((row) => {
      const fs = process.getBuiltinModule("node:fs");
      // One worker takes itself down in the middle of its first task, after it has handed over blocks.
      if (row.id % 50_000 === 40_000 && !fs.existsSync(marker)) {
        fs.writeFileSync(marker, "");
        process.kill(process.pid, "SIGKILL");
      }
      return { id: row.id, text: `row ${row.id}` };
    });
    for await (const row of ds.iterRows()) seen.push(row.id);
    expect(existsSync(marker)).toBe(true);
    expect(seen.length).toBe(200_000);
    expect(seen.sort((a, b) => a - b).every((id, i) => id === i)).toBe(true);
    expect(ds.stats().operators.some((operator) => operator.retries > 0)).toBe(true);
    await s.close();
  });

  test("[R1] a function that is not deterministic is found out", async () => {
    const s = sessions.open({ workers: 1, targetMaxBlockSize: "64 KiB", objectStoreMemory: "8 MiB" });
    const marker = join(sessions.directory, "killed-random");
    const ds = s.range(100_000, { overrideNumBlocks: 1 }).map((row) => {
      const fs = process.getBuiltinModule("node:fs");
      if (row.id === 80_000 && !fs.existsSync(marker)) {
        fs.writeFileSync(marker, "");
        process.kill(process.pid, "SIGKILL");
      }
      return { id: row.id, chance: Math.random() };
    });
    await expect(ds.takeAll()).rejects.toBeInstanceOf(NondeterministicFunctionError);
    await s.close();
  });

  test("[A15] killed from outside while idle, it is replaced", async () => {
    const s = sessions.open({ workers: 1 });
    expect(await s.range(10).count()).toBe(10);
    expect(
      (
        await s
          .range(10)
          .map((row) => row)
          .takeAll()
      ).length,
    ).toBe(10);
    const [pid] = workerPids(lastSession(sessions));
    if (pid === undefined) throw new Error("no worker was found");
    process.kill(pid, "SIGKILL");
    expect(
      (
        await s
          .range(10)
          .map((row) => row)
          .takeAll()
      ).length,
    ).toBe(10);
    expect(workerPids(lastSession(sessions))).not.toContain(pid);
    await s.close();
  });
});

describe("a session whose files are cleared away while it runs", () => {
  async function afterClearing(s: Session, paths: () => readonly string[]): Promise<number> {
    const ds = s.range(10).map((row) => row);
    await ds.takeAll();
    for (const path of paths()) rmSync(path, { recursive: true });
    for (const pid of workerPids(lastSession(sessions))) process.kill(pid, "SIGKILL");
    return (await ds.takeAll()).length;
  }

  test("[A15] replaces workers that were killed, and leaves nothing behind", async () => {
    const localDirectory = join(sessions.directory, "cleared");
    mkdirSync(localDirectory);
    const s = sessions.open({ workers: 2, localDirectory });
    expect(await afterClearing(s, () => [localDirectory])).toBe(10);
    await s.close();
    expect(existsSync(localDirectory)).toBe(false);
  });

  test("[A15] says so where the store's own file is gone", async () => {
    const s = sessions.open({ workers: 2 });
    const job = afterClearing(s, () => [`/dev/shm/spillway-${lastSession(sessions)}`]);
    await expect(job).rejects.toBeInstanceOf(StoreError);
    await expect(job).rejects.toThrow(/The store's file .* was removed while the session ran.*Start a new session/);
    await s.close();
  });
});
