/** A session from its start to its end, and readers that leave before it. Programs that end: programs.test.ts. */
import { mkdirSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { SessionClosedError } from "spillway";
import { describe, expect, test } from "vitest";
import { lastSession, leftovers, processes, sessionNames, supervisorPid, testSessions } from "../support/sessions.ts";

const sessions = testSessions("lifecycle");

describe("the end of a session", () => {
  test("[A15] close leaves no process, no shared memory, no file", async () => {
    const s = sessions.open();
    const kept = await s
      .range(100_000)
      .map((row) => row)
      .materialize();
    expect(await kept.count()).toBe(100_000);
    expect(processes([lastSession(sessions)]).length).toBeGreaterThanOrEqual(2);
    await s.close();
    expect(await leftovers(sessions.localDirectory, [lastSession(sessions)])).toEqual([]);
    await expect(s.range(3).takeAll()).rejects.toThrow(/closed/);
    // Also what could be known without asking anybody.
    await expect(s.range(3).count()).rejects.toBeInstanceOf(SessionClosedError);
    await expect(kept.count()).rejects.toBeInstanceOf(SessionClosedError);
  });

  test("[A15] nothing stays in the local directories either, whichever of two sessions ends last", async () => {
    const localDirectory = ["first", "second"].map((name) => join(sessions.directory, name));
    for (const path of localDirectory) mkdirSync(path);
    const open = () => sessions.open({ workers: 1, localDirectory, objectStoreMemory: "1 MiB" });
    const [one, other] = [open(), open()];
    // More than the store holds: both directories are used.
    for (const s of [one, other]) await s.range(500_000).materialize();
    const users = localDirectory.map((path) => readdirSync(path));
    expect(users).toEqual([[expect.stringMatching(/^spillway-\d+$/)], [expect.stringMatching(/^spillway-\d+$/)]]);
    await one.close();
    expect(localDirectory.map((path) => readdirSync(path))).toEqual(users);
    expect(await other.range(3).count()).toBe(3);
    await other.close();
    expect(localDirectory.map((path) => readdirSync(path))).toEqual([[], []]);
  });

  test("[A15] close comes back when the processes are gone, not before", async () => {
    const s = sessions.open();
    await s.range(3).takeAll();
    const name = lastSession(sessions);
    await s.close();
    expect(processes([name])).toEqual([]);
  });

  test("[A15] whoever calls close waits until it is done, not only the first", async () => {
    const s = sessions.open();
    await s.range(3).takeAll();
    const name = lastSession(sessions);
    const first = s.close();
    await s.close();
    expect(processes([name])).toEqual([]);
    await first;
  });

  test("[A15] after SIGKILL of the supervisor, close leaves nothing either", async () => {
    const s = sessions.open();
    await s
      .range(3)
      .map((row) => row)
      .takeAll();
    const name = lastSession(sessions);
    process.kill(supervisorPid(name), "SIGKILL");
    await expect(
      s
        .range(1e9)
        .map((row) => row)
        .takeAll(),
    ).rejects.toThrow(/supervisor process ended/);
    await s.close();
    expect(await leftovers(sessions.localDirectory, [name])).toEqual([]);
  });

  test("[A1] items are put into blocks that fit a small store", async () => {
    const s = sessions.open({ workers: 1, objectStoreMemory: "4 MiB" });
    const rows = Array.from({ length: 6000 }, (_, i) => ({ i, text: "x".repeat(1000) }));
    let n = 0;
    await expect(
      (async () => {
        for await (const row of s
          .fromItems(rows.slice(0, 2500))
          .map((row) => ({ i: row.i }))
          .iterRows())
          n += row.i >= 0 ? 1 : 0;
      })(),
    ).resolves.toBeUndefined();
    expect(n).toBe(2500);
    await s.close();
  });

  test("[A15] logs of the session stay, with a link latest, of ten sessions at most", async () => {
    for (let i = 0; i < 3; i++) {
      const s = sessions.open({ workers: 1 });
      await s
        .range(3)
        .map((row) => row)
        .takeAll();
      await s.close();
    }
    const name = lastSession(sessions);
    expect(readlinkSync(join(sessions.stateDirectory, "latest"))).toContain(name);
    expect(readdirSync(join(sessions.stateDirectory, name)).some((file) => file.includes("worker"))).toBe(true);
    expect(sessionNames(sessions.stateDirectory).length).toBeLessThanOrEqual(10);
  });
});

describe("leaving early", () => {
  test("[A10] a reader that stops cancels the work and frees everything at once", async () => {
    const s = sessions.open({ workers: 2 });
    let n = 0;
    for await (const row of s
      .range(1e9, { overrideNumBlocks: 1000 })
      .map((row) => ({ id: row.id }))
      .iterRows()) {
      if (row.id >= 0 && ++n === 500) break;
    }
    expect(n).toBe(500);
    // Whatever the job held is free again: a store that was full would not let this one through.
    expect(
      await s
        .range(100_000)
        .map((row) => row)
        .count(),
    ).toBe(100_000);
    await s.close();
  });

  test("[R11] several jobs at the same time do not mix", async () => {
    const s = sessions.open({ workers: 2 });
    const jobs = Array.from({ length: 6 }, (_, k) =>
      s
        .range(5000)
        .map((row) => ({ v: row.id * 10 + k }))
        .takeAll(),
    );
    const results = await Promise.all(jobs);
    for (const [k, rows] of results.entries()) {
      expect(rows.length).toBe(5000);
      expect(rows.every((row) => row.v % 10 === k)).toBe(true);
    }
    await s.close();
  });

  test("[R4] kept rows and batches stay as they were: they are copies", async () => {
    const s = sessions.open({ workers: 2, targetMaxBlockSize: "64 KiB", objectStoreMemory: "2 MiB" });
    const kept: { id: Float64Array; text: string[] }[] = [];
    const ds = s.range(100_000).map((row) => ({ id: row.id, text: `row number ${row.id}` }));
    for await (const batch of ds.iterBatches({ batchSize: 512 })) kept.push(batch as (typeof kept)[number]);
    const ids = new Set<number>();
    for (const batch of kept) {
      for (const [i, id] of batch.id.entries()) {
        ids.add(id);
        if (batch.text[i] !== `row number ${id}`) throw new Error(`row ${id} changed to ${batch.text[i]}`);
      }
    }
    expect(ids.size).toBe(100_000);
    await s.close();
    mkdirSync(join(sessions.directory, "done"), { recursive: true });
  });
});
